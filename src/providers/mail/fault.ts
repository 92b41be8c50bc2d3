import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { errorCode, HttpFailure, NamedError } from '../../kernel/failure.js';

/** Predicates: the host is the subject. */
const PREDICATES = {
  address: 'is not an allowed address',
  dns: 'the name does not resolve',
  connection: 'cannot be reached',
  tls: 'could not establish a trusted TLS connection',
  starttls: 'does not support STARTTLS, and unencrypted connections are not allowed',
  login: 'rejected the login',
  timeout: 'did not respond in time',
  excess: 'sent more data than allowed',
  server: 'rejected the request',
};
export type MailFaultKind = keyof typeof PREDICATES;

export class MailFault extends NamedError {
  constructor(
    readonly kind: MailFaultKind,
    readonly host: string,
    /** '' if there is none. */
    readonly detail = '',
    options: ErrorOptions & {
      /** Distinguishes temporary from permanent failures. */
      status?: number | undefined;
    } = {},
  ) {
    super(`${host}: ${PREDICATES[kind]}${detail === '' ? '' : ` (${detail})`}`, options);
    this.status = options.status;
  }
  readonly status: number | undefined;
}

/** The server itself works. */
export class FolderMissing extends MailFault {
  constructor(host: string, folder: string) {
    super('server', host, `folder not found: ${sanitizeServerText(folder)}`);
  }
}

const MAX_DETAIL_LENGTH = 300;
/** Characters examined, including blanks. */
const MAX_SAID_LENGTH = 3000;

/** One line without control characters. */
export const sanitizeServerText = (text: unknown): string =>
  (typeof text === 'string' ? text : '')
    .slice(0, MAX_SAID_LENGTH)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL_LENGTH);

/** Error fields of imapflow and nodemailer. */
interface ErrorFields {
  responseStatus?: string;
  authenticationFailed?: boolean;
  tlsFailed?: boolean;
  serverResponseCode?: string;
  responseText?: string;
  response?: unknown;
  responseCode?: number;
}

/** NO or BAD (RFC 3501, 7.1). The session continues. */
export const isCommandRefused = (error: unknown): boolean => {
  const { responseStatus }: ErrorFields = Object.assign({}, error);
  return responseStatus === 'NO' || responseStatus === 'BAD';
};

export const toMailFault = (error: unknown, host: string): MailFault => {
  if (error instanceof MailFault) return error;
  if (error instanceof EgressRefused) return new MailFault('address', host, error.why);
  if (error instanceof BadUrl) return new MailFault('address', host, error.message);
  if (error instanceof HttpFailure) return ofHttp(error);
  const fields: ErrorFields = Object.assign({}, error);
  const text = sanitizeServerText(fields.responseText ?? fields.response);
  const detail =
    text ||
    sanitizeServerText(error instanceof Error ? error.message : String(error)).replace(
      NODE_ADVICE,
      TRUST_ADVICE,
    );
  return new MailFault(classifyMailError(error, fields), host, detail, {
    cause: error,
    status: fields.responseCode,
  });
};

/** Node ends the message on an untrusted certificate with advice on its own command line. */
const NODE_ADVICE = /; if the root CA is installed locally.*$/;
const TRUST_ADVICE =
  '. To trust its authority, set NODE_EXTRA_CA_CERTS for the daemon and restart it';

const ofHttp = (error: HttpFailure): MailFault => {
  const { kind, host } = error;
  const same = kind === 'dns' || kind === 'tls' || kind === 'timeout' ? kind : 'connection';
  return new MailFault(same, host, same === 'connection' ? error.message : '', { cause: error });
};

const classifyMailError = (error: unknown, fields: ErrorFields): MailFaultKind => {
  const code = errorCode(error);
  const message = error instanceof Error ? sanitizeServerText(error.message) : '';
  if (fields.authenticationFailed || code === 'EAUTH')
    return isPassing(fields) ? 'server' : 'login';
  if (/STARTTLS/i.test(message) && fields.tlsFailed && !CERTIFICATE.test(code)) return 'starttls';
  if (NO_STARTTLS.test(message)) return 'starttls';
  if (fields.tlsFailed || code === 'ETLS' || CERTIFICATE.test(code)) return 'tls';
  if (TIMEOUT.test(code)) return 'timeout';
  return CLOSED.test(code) ? 'connection' : 'server';
};

/** The login could not be checked now: SMTP 4yz, IMAP `UNAVAILABLE` (RFC 5530). */
const isPassing = ({ responseCode = 0, serverResponseCode = '' }: ErrorFields): boolean =>
  (responseCode >= 400 && responseCode < 500) || TEMPORARY_CODES.has(serverResponseCode);

const TEMPORARY_CODES = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT']);
const NO_STARTTLS =
  /does(?: not|n't) (?:support|offer).*STARTTLS|STARTTLS.*not (?:available|supported|offered)/i;
const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO$|HOSTNAME_MISMATCH|ClosedAfterConnectTLS/;
const TIMEOUT = /TIMEOUT|ETIMEDOUT/;
const CLOSED =
  /^(?:ECONN|EPIPE|EHOSTUNREACH|ENETUNREACH|ESOCKET|NoConnection|EConnectionClosed|ClosedAfterConnect)/;

import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Handshake } from '../../kernel/handshake.js';
import { buildEgressAllowance, refusedAddress } from './request.js';
import { remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

const DAY_MS = 86_400_000;
/** Certificates with automatic renewal are renewed earlier than this. */
const SOON_DAYS = 7;

export const checkName = async (input: StageInput): Promise<StageOutcome> => {
  const found = await connect(input);
  if (!(found instanceof HttpFailure)) {
    const [only, ...more] = found.addresses;
    const detail = more.length === 0 ? `${only}` : `resolves to ${more.length + 1} addresses`;
    return { detail, latencyMs: found.nameMs };
  }
  if (found.kind !== 'dns') return { detail: 'the name resolves', latencyMs: null };
  const seen = `${input.url.hostname} does not resolve`;
  const cause = 'there is no DNS record for the name, or a new record has not spread yet';
  throw new StageFailed({ seen, cause, remedy: remedies.name(input) });
};

/** Not run if the connection is refused; the next stage reports that. */
export const checkCertificate = async (input: StageInput): Promise<StageOutcome> => {
  const found = await connect(input);
  if (found instanceof HttpFailure) {
    if (found.kind === 'tls') throw untrusted(input, found);
    return { status: 'not_run', detail: 'no connection was established', latencyMs: null };
  }
  if (input.url.protocol === 'http:') {
    const detail = 'there is no TLS: tokens and payloads are sent unencrypted';
    return { status: 'warn', detail, latencyMs: null };
  }
  const days = Math.floor(((found.validUntil ?? input.now) - input.now) / DAY_MS);
  return {
    ...(days < SOON_DAYS && { status: 'warn' }),
    detail: `valid for ${days} days, matches the name`,
    latencyMs: found.connectMs,
  };
};

const connect = async ({ url, http }: StageInput): Promise<Handshake | HttpFailure> => {
  try {
    return await http.shake(url.href, { allow: buildEgressAllowance(url) });
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error instanceof EgressRefused ? refusedAddress(error) : error;
  }
};

const untrusted = (input: StageInput, { cause }: HttpFailure): StageFailed => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const seen = `| 'the handshake failed'}|no trusted connection: ${code || 'the TLS handshake failed'}|| 'the handshake failed'}`;
  return new StageFailed({
    seen,
    cause: formatCertificateError(code),
    remedy: remedies.certificate(input),
  });
};

const formatCertificateError = (code: string): string => {
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') {
    return 'the certificate is not valid yet, or the clock of this machine is slow';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for another name';
  if (/SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return 'the certificate is not signed by a trusted authority, or an intermediate certificate is missing';
  }
  return 'the server does not support TLS, or only an outdated version';
};

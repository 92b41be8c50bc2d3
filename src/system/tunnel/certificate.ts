import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Handshake } from '../../kernel/handshake.js';
import { allowanceOf, refusedAddress } from './request.js';
import { remedies, StageFailed, type StageInput, type StageOutcome } from './stage.js';

const DAY_MS = 86_400_000;
/** A certificate that is renewed automatically is renewed before so few days are left. */
const SOON_DAYS = 7;

/** Checks that the name resolves. */
export const checkName = async (input: StageInput): Promise<StageOutcome> => {
  const found = await connect(input);
  if (!(found instanceof HttpFailure)) {
    const [only, ...more] = found.addresses;
    const detail = more.length === 0 ? `${only}` : `resolves to ${more.length + 1} addresses`;
    return { detail, latencyMs: found.nameMs };
  }
  if (found.kind !== 'dns') return { detail: 'it resolves', latencyMs: null };
  const seen = `${input.url.hostname} does not resolve`;
  const cause = 'there is no record of that name, or it is too new to be known here';
  throw new StageFailed({ seen, cause, remedy: remedies.name(input) });
};

/**
 * Checks the certificate. If the connection is refused, there is none to check; the next stage
 * reports that.
 */
export const checkCertificate = async (input: StageInput): Promise<StageOutcome> => {
  const found = await connect(input);
  if (found instanceof HttpFailure) {
    if (found.kind === 'tls') throw untrusted(input, found);
    return { status: 'not_run', detail: 'no connection came about', latencyMs: null };
  }
  if (input.url.protocol === 'http:') {
    const detail = 'there is no TLS: tokens and payloads can be read on the way';
    return { status: 'warn', detail, latencyMs: null };
  }
  const days = Math.floor(((found.validUntil ?? input.now) - input.now) / DAY_MS);
  return {
    ...(days < SOON_DAYS && { status: 'warn' }),
    detail: `valid ${days} days, matches the name`,
    latencyMs: found.connectMs,
  };
};

const connect = async ({ url, http }: StageInput): Promise<Handshake | HttpFailure> => {
  try {
    return await http.shake(url.href, { allow: allowanceOf(url) });
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error instanceof EgressRefused ? refusedAddress(error) : error;
  }
};

const untrusted = (input: StageInput, { cause }: HttpFailure): StageFailed => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const seen = `no trusted connection: ${code || 'the handshake failed'}`;
  return new StageFailed({ seen, cause: causeOf(code), remedy: remedies.certificate(input) });
};

const causeOf = (code: string): string => {
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') {
    return 'the certificate is not valid yet, or the clock of this machine is late';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate belongs to another name';
  if (/SELF_SIGNED|UNABLE_TO_/.test(code)) {
    return 'no authority that is known here signed it, or one between is not sent along';
  }
  return 'what listens there does not speak TLS, or not as it is spoken today';
};

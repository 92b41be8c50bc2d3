import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Handshake } from '../../kernel/handshake.js';
import { allowanceOf } from './question.js';
import { remedies } from './remedies.js';
import { StageFailed, type StepInput, type StepOutcome } from './step.js';

const DAY_MS = 86_400_000;
/** A certificate that is renewed automatically is renewed before so few days are left. */
const SOON_DAYS = 7;

export const lookAtName = async (asking: StepInput): Promise<StepOutcome> => {
  const found = await shake(asking);
  if (!(found instanceof HttpFailure)) {
    const [only, ...more] = found.addresses;
    const detail = more.length === 0 ? `${only}` : `resolves to ${more.length + 1} addresses`;
    return { detail, latencyMs: found.nameMs };
  }
  if (found.kind !== 'dns') return { detail: 'it resolves', latencyMs: null };
  const cause = 'there is no record of that name, or it is too new to be known here';
  const seen = `${asking.url.hostname} does not resolve`;
  throw new StageFailed(seen, cause, remedies.name(asking));
};

/**
 * Checks the certificate. If the connection is refused, there is none to check; the next stage
 * reports that.
 */
export const lookAtCertificate = async (asking: StepInput): Promise<StepOutcome> => {
  const found = await shake(asking);
  if (found instanceof HttpFailure) {
    if (found.kind === 'tls') throw untrusted(asking, found);
    return { status: 'not_run', detail: 'no connection came about', latencyMs: null };
  }
  if (asking.url.protocol === 'http:') {
    const detail = 'there is no TLS: tokens and payloads can be read on the way';
    return { status: 'warn', detail, latencyMs: null };
  }
  const { validUntil, connectMs } = found;
  const days = Math.floor(((validUntil ?? asking.now) - asking.now) / DAY_MS);
  return {
    ...(days < SOON_DAYS && { status: 'warn' }),
    detail: `valid ${days} days, matches the name`,
    latencyMs: connectMs,
  };
};

const shake = async ({ url, http }: StepInput): Promise<Handshake | HttpFailure> => {
  try {
    return await http.shake(url.href, { allow: allowanceOf(url) });
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    if (!(error instanceof EgressRefused)) throw error;
    throw new StageFailed(error.message, 'this is no address to be reached at', remedies.address);
  }
};

const untrusted = (asking: StepInput, { cause }: HttpFailure): StageFailed => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const seen = `no trusted connection: ${code || 'the handshake failed'}`;
  return new StageFailed(seen, causeOf(code), remedies.certificate(asking));
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

import { AISDKError } from '@ai-sdk/provider';
import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { faultOfHeaderValue } from '../../kernel/headervalue.js';
import { ModelFailure, type ModelFailureKind } from './model.js';

/**
 * Errors of adapters and libraries may contain the request with its key. Their texts are neither
 * reported nor kept as a cause.
 */
export const modelFailure = (name: string, error: unknown): ModelFailure => {
  const all = [...causes(error)];
  const known = all.find((cause) => cause instanceof ModelFailure);
  if (known) return known;
  const broken = all.find((cause) => cause instanceof HttpFailure);
  if (broken) return lost(name, broken, 'server');
  if (!AISDKError.isInstance(error)) return libraryFailure(name, error);
  return new ModelFailure('invalid_reply', `${name} sent an invalid reply`);
};

const libraryFailure = (name: string, error: unknown): ModelFailure => {
  const kind = error instanceof Error && /^\w{1,40}$/.test(error.name) ? error.name : 'unknown';
  return new ModelFailure('server', `${name} was not called: client error (${kind})`);
};

/** The remedy in the API and on the command line. */
export const featureRemedy = (name: string, feature: 'tools' | 'streaming'): string =>
  `Set supports.${feature} to false: adjutant models update ${name} --no-${feature}`;

/** Otherwise a library would quote the key in its error. */
export const assertKeySendable = (name: string, key: string | undefined): void => {
  if (key === undefined || faultOfHeaderValue(key) === null) return;
  throw new ModelFailure(
    'credentials',
    `${name} was not called: the API key of the model contains a character that is not allowed in ` +
      'an HTTP header. Set the API key again.',
  );
};

/** Recognizes errors of the listener, which are not failures of the model. */
export const createOwnErrors = () => {
  const own = new WeakSet<object>();
  return {
    includes: (error: unknown): boolean => error instanceof Error && own.has(error),
    from: (work: () => void): void => {
      try {
        work();
      } catch (error) {
        if (error instanceof Error) own.add(error);
        throw error;
      }
    },
  };
};

export const abortFailure = (name: string, { reason }: AbortSignal): ModelFailure =>
  reason instanceof Error && reason.name === 'TimeoutError'
    ? new ModelFailure('timeout', `${name} did not finish in time`)
    : new ModelFailure('aborted', `The call of ${name} was stopped`);

export const noReplyFailure = (name: string, error: unknown): unknown => {
  if (error instanceof HttpFailure) return lost(name, error, 'refused_connection');
  if (!(error instanceof EgressRefused)) return error;
  return new ModelFailure('refused_connection', `${name} at ${error.message}`);
};

const lost = (name: string, error: HttpFailure, otherwise: ModelFailureKind): ModelFailure =>
  new ModelFailure(BY_KIND.get(error.kind) ?? otherwise, `${name} at ${error.message}`);

const BY_KIND = new Map<HttpFailure['kind'], ModelFailureKind>([
  ['timeout', 'timeout'],
  ['aborted', 'aborted'],
  ['bad_response', 'invalid_reply'],
  ['too_large', 'invalid_reply'],
]);

function* causes(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 8; depth++) {
    yield cause;
    cause = cause.cause;
  }
}

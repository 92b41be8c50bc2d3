import { EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { type FailureKind, ModelFailure } from './model.js';

type Sdk = typeof import('ai');

/**
 * What went wrong in a step, as a ModelFailure; the error of somebody else (`onText`, a bug) as it
 * is. The SDK's errors hold the whole request, so none of them is kept as a cause.
 */
export const failureOf = (name: string, error: unknown, sdk: Sdk): unknown => {
  const all = [...causes(error)];
  const known = all.find((cause) => cause instanceof ModelFailure);
  if (known) return known;
  const broken = all.find((cause) => cause instanceof HttpFailure);
  if (broken) return lost(name, broken, 'server');
  if (sdk.MissingToolResultsError.isInstance(error) || sdk.InvalidPromptError.isInstance(error))
    return new ModelFailure('bad_request', `${name} was not asked: the turns do not fit together`);
  if (!sdk.AISDKError.isInstance(error)) return error;
  return new ModelFailure('invalid_reply', `${name} sent a reply that makes no sense`);
};

/** What the caller's signal said when it ended the call. */
export const endedBy = (name: string, { reason }: AbortSignal): ModelFailure =>
  reason instanceof Error && reason.name === 'TimeoutError'
    ? new ModelFailure('timeout', `${name} did not finish in time`)
    : new ModelFailure('aborted', `The call of ${name} was stopped`);

/** A request that got no reply at all. */
export const unanswered = (name: string, error: unknown): unknown => {
  if (error instanceof HttpFailure) return lost(name, error, 'refused_connection');
  if (!(error instanceof EgressRefused)) return error;
  return new ModelFailure('refused_connection', `${name} at ${error.message}`);
};

const lost = (name: string, error: HttpFailure, otherwise: FailureKind): ModelFailure =>
  new ModelFailure(BY_KIND.get(error.kind) ?? otherwise, `${name} at ${error.message}`);

const BY_KIND = new Map<HttpFailure['kind'], FailureKind>([
  ['timeout', 'timeout'],
  ['aborted', 'aborted'],
  ['bad_response', 'invalid_reply'],
  ['too_large', 'invalid_reply'],
]);

/** The error and what caused it, outermost first. */
function* causes(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < 8; depth++) {
    yield cause;
    cause = cause.cause;
  }
}

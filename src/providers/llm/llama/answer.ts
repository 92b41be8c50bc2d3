import { ModelFailure } from '../model.js';
import { NotLoaded } from './files.js';
import { LlamaProcessEnded } from './process.js';
import type { LlamaEnd } from './protocol.js';

type EndOf<Kind> = Extract<LlamaEnd, { is: Kind }>;

/** Returns the end of an answer if it is of the kind that was asked for. Throws ModelFailure. */
export const answered = <Kind extends LlamaEnd['is']>(
  name: string,
  end: LlamaEnd,
  kind: Kind,
): EndOf<Kind> => {
  if (isOf(end, kind)) return end;
  if (end.is !== 'failed')
    throw new ModelFailure('invalid_reply', `${name} sent an unexpected reply`);
  if (end.fault === 'engine') throw new ModelFailure('server', `${name} failed: ${end.message}`);
  throw new ModelFailure('context_length', `${name} was not called: ${end.message}`);
};

const isOf = <Kind extends LlamaEnd['is']>(end: LlamaEnd, kind: Kind): end is EndOf<Kind> =>
  end.is === kind;

/** Returns the failure of a model that was not loaded, or whose process has ended. */
export const failureOf = (name: string, error: unknown): unknown => {
  if (error instanceof NotLoaded) return new ModelFailure(error.kind, `${name} ${error.message}`);
  if (!(error instanceof LlamaProcessEnded)) return error;
  if (error.isGarbled) return new ModelFailure('invalid_reply', `${name} sent an invalid reply`);
  // Its last words stand behind the colon and may quote the prompt.
  const [how] = error.message.split(':', 1);
  return new ModelFailure('server', `${name} stopped unexpectedly: ${how}`);
};

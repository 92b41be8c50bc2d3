import { ModelFailure } from '../model.js';
import { NotLoaded } from './files.js';
import { LlamaProcessEnded } from './process.js';
import type { LlamaEnd } from './protocol.js';

type EndOf<Kind> = Extract<LlamaEnd, { is: Kind }>;

/** Throws ModelFailure. */
export const expectAnswer = <Kind extends LlamaEnd['is']>(
  name: string,
  end: LlamaEnd,
  kind: Kind,
): EndOf<Kind> => {
  if (isEndKind(end, kind)) return end;
  if (end.is !== 'failed')
    throw new ModelFailure(
      'invalid_reply',
      `${name} failed: the process of the model sent an unexpected reply. Try again`,
    );
  if (end.fault === 'engine') throw new ModelFailure('server', `${name} failed: ${end.message}`);
  throw new ModelFailure('context_length', `${name} was not called: ${end.message}`);
};

const isEndKind = <Kind extends LlamaEnd['is']>(end: LlamaEnd, kind: Kind): end is EndOf<Kind> =>
  end.is === kind;

/** Also converts the end of the process. */
export const toLlamaFailure = (name: string, error: unknown): unknown => {
  if (error instanceof NotLoaded) return new ModelFailure(error.kind, `${name} ${error.message}`);
  if (!(error instanceof LlamaProcessEnded)) return error;
  if (error.isGarbled) return new ModelFailure('invalid_reply', `${name} sent an invalid reply`);
  // The text after the colon may quote the prompt.
  const [how] = error.message.split(':', 1);
  const stopped = error.isIntended ? 'was stopped' : 'stopped unexpectedly';
  return new ModelFailure('server', `${name} ${stopped}: ${how}`);
};

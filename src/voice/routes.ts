import Boom from '@hapi/boom';
import { type Caller, CustomReply } from '../kernel/contract/endpoint.js';
import { badRequest, orNotFound, resource } from '../kernel/route.js';
import type { Operations } from '../operations/module.js';
import { type TranscriptionRow, transcriptionTable } from '../store/tables/voice.js';
import { viewer } from '../store/view.js';
import { beginTranscription, type NewAudioDeps, receiveAudio } from './begin.js';
import { type TranscriptionDetail, TranscriptionView, voice } from './contract.js';
import { isSettled } from './operation.js';

interface VoiceDeps extends NewAudioDeps {
  operations: Pick<Operations, 'ended'>;
}

const MAX_ARRIVING = 4;
const RETRY_AFTER_S = 5;
const WAIT_S = 60;
const EXCERPT_CHARS = 200;

const view = viewer(transcriptionTable, TranscriptionView, {
  excerpt: ({ text }: TranscriptionRow) => text?.slice(0, EXCERPT_CHARS) ?? null,
});

export const voiceResource = (deps: VoiceDeps) => {
  const { rows, audio, begins, operations } = deps;
  const arriving = new Map<string, number>();

  const find = async (userId: string, id: string): Promise<TranscriptionRow> =>
    orNotFound(await rows.get(userId, id), 'Transcription not found');

  const detailOf = async (userId: string, id: string): Promise<TranscriptionDetail> => {
    const row = await find(userId, id);
    const pieces = await rows.pieces(userId, id);
    const { excerpt: _, ...facts } = view(row);
    const soFar =
      pieces.length === 0
        ? null
        : pieces
            .map(({ text }) => text)
            .join(' ')
            .trim();
    const segments = pieces.flatMap((piece) => JSON.parse(piece.segments));
    return { ...facts, text: row.text ?? soFar, segments };
  };

  const awaited = async ({ userId, signal }: Caller, id: string, seconds: number) => {
    const { operation_id } = await find(userId, id);
    if (seconds > 0)
      await operations.ended(userId, operation_id, { waitMs: seconds * 1000, signal });
    return detailOf(userId, id);
  };

  const end = async (row: TranscriptionRow): Promise<void> => {
    try {
      await begins.cancel(row.user_id, row.operation_id);
    } catch (error) {
      // It ended just now, or its operation was pruned.
      if (!Boom.isBoom(error)) throw error;
    }
    await audio.remove(row.id);
  };

  const inTurn = async <T>(userId: string, work: () => Promise<T>): Promise<T> => {
    const others = arriving.get(userId) ?? 0;
    if (others >= MAX_ARRIVING) throw busy();
    arriving.set(userId, others + 1);
    try {
      return await work();
    } finally {
      arriving.set(userId, (arriving.get(userId) ?? 1) - 1);
    }
  };

  return resource('voice', voice, {
    transcribe: async ({ query, form }, by) => {
      const { id } = await inTurn(by.userId, async () => {
        const { files, fields } = await form.read(
          (file) => receiveAudio(deps, file),
          (stored) => audio.remove(stored.id),
        );
        const [kept] = files;
        if (!kept) throw badRequest([{ path: 'audio', message: 'is required' }]);
        const { language = null, model = null, prompt = null } = fields;
        const wish = { language, model, prompt };
        return beginTranscription(deps, by.userId, { kept, wish });
      });
      const found = await awaited(by, id, query.wait ?? WAIT_S);
      return new CustomReply(isSettled(found) ? 200 : 202, found);
    },
    list: async ({ query }, { userId }) => {
      const page = await rows.list(userId, query);
      return { transcriptions: page.rows.map(view), nextCursor: page.nextCursor };
    },
    get: ({ id, query }, by) => awaited(by, id, query.wait ?? 0),
    cancel: async ({ id }, { userId }) => {
      const row = await find(userId, id);
      if (isSettled(row))
        throw Boom.conflict(`The transcription has already ended with status ${row.status}`);
      await begins.cancel(userId, row.operation_id);
      // A queued one has no run that would delete its audio.
      if (isSettled(await find(userId, id))) await audio.remove(id);
      return detailOf(userId, id);
    },
    delete: async ({ id }, { userId }) => {
      const row = await find(userId, id);
      if (!isSettled(row)) await end(row);
      if (!(await rows.delete(userId, id))) await find(userId, id);
    },
  });
};

const busy = (): Boom.Boom =>
  Boom.tooManyRequests(`You already have ${MAX_ARRIVING} uploads in progress. Try again later`, {
    retryAfter: RETRY_AFTER_S,
  });

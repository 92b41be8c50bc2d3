import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import type { Operations } from '../operations/module.js';
import type { TranscriptionRow } from '../store/tables/voice.js';
import { beginTranscription, type NewAudioDeps, receiveAudio } from './begin.js';

export type SpokenWords = Pick<TranscriptionRow, 'status' | 'text' | 'reason' | 'error'>;

/** Voice messages from chats. */
export interface VoiceMessages {
  /** Returns the id, or the reason of the rejection. Throws what its content throws. */
  begin(
    userId: string,
    message: { filename: string; content: Readable },
  ): Promise<{ id: string } | { reason: string }>;
  /** At most `waitMs`; null if it does not exist. */
  whenTranscribed(
    userId: string,
    id: string,
    wait: { waitMs: number; signal: AbortSignal },
  ): Promise<SpokenWords | null>;
}

const NO_PREFERENCES = { language: null, model: null, prompt: null };

export const createVoiceMessages = (
  deps: NewAudioDeps,
  operations: Pick<Operations, 'ended'>,
): VoiceMessages => ({
  begin: async (userId, { filename, content }) => {
    try {
      const kept = await receiveAudio(deps, { filename, content, isCut: () => false });
      return await beginTranscription(deps, userId, { kept, wish: NO_PREFERENCES });
    } catch (error) {
      if (!Boom.isBoom(error)) throw error;
      return { reason: error.message };
    }
  },
  whenTranscribed: async (userId, id, wait) => {
    const row = await deps.rows.get(userId, id);
    if (!row) return null;
    await operations.ended(userId, row.operation_id, wait);
    return (await deps.rows.get(userId, id)) ?? null;
  },
});

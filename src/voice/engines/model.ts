import { type SpeechModel, TranscriptionFailed } from '../../agents/module.js';
import { EngineFailed, type SpeechEngine } from './engine.js';

/** A WAV file of this length is below OpenAI's 25 MB. */
const MAX_S = 600;

export const modelEngine = ({ name, hear }: SpeechModel): SpeechEngine => ({
  name,
  engine: 'model',
  model: name,
  longestSeconds: MAX_S,
  transcribe: async ({ wav, seconds }, { userId, askedBy, language, prompt, signal }) => {
    try {
      return await hear({ wav, seconds, userId, askedBy, language, prompt, signal });
    } catch (error) {
      if (error instanceof TranscriptionFailed) throw new EngineFailed(error.message);
      throw error;
    }
  },
});

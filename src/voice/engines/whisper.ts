import { WorkerFailed, type Workers } from '../../operations/module.js';
import { usableCores } from '../../providers/hardware/cores.js';
import type { WhisperModel } from '../../providers/whisper/files.js';
import type {
  WhisperInput,
  WhisperLine,
  WhisperSegment,
} from '../../providers/whisper/protocol.js';
import { EngineFailed, type SpeechEngine, type SpokenText } from './engine.js';

interface WhisperOptions {
  engine: string;
  model: WhisperModel;
  workers: Workers;
}

const SCRIPT = new URL('../../providers/whisper/main.js', import.meta.url);
/** In seconds. The model is loaded for each piece. */
const MAX_S = 120;
/** A window of 30 s on a slow machine. */
const SILENCE_MS = 300_000;
/** Memory besides the model. */
const OWN_BYTES = 2 * 1024 ** 3;

/** One process per piece. */
export const whisperEngine = ({ engine, model, workers }: WhisperOptions): SpeechEngine => ({
  name: 'whisper',
  engine: 'whisper',
  model: model.slug,
  longestSeconds: MAX_S,
  transcribe: async ({ wav }, { userId, language, prompt, signal }) => {
    const input: WhisperInput = {
      engine,
      model: model.path,
      wav: wav.toString('base64'),
      language: language === null ? null : (language.toLowerCase().split(/[_-]/)[0] ?? null),
      prompt,
      threads: usableCores(),
    };
    let transcript: SpokenText | null = null;
    let fault = 'it returned no result';
    try {
      await workers.run<WhisperLine>({
        userId,
        script: SCRIPT,
        input,
        readable: [`${engine}/node_modules`, model.path],
        packages: [],
        memoryBytes: OWN_BYTES + Math.ceil(1.5 * model.bytes),
        speaksApart: true,
        silenceMs: SILENCE_MS,
        signal,
        take: async (line) => {
          if ('segments' in line) transcript = toSpokenText(line.segments, line.language);
          else if ('fault' in line) fault = line.fault;
          return !('progress' in line);
        },
      });
    } catch (error) {
      if (!(error instanceof WorkerFailed)) throw error;
      throw new EngineFailed(`whisper.cpp failed: ${error.message}`);
    }
    if (transcript === null) throw new EngineFailed(`whisper.cpp failed: ${fault.slice(0, 500)}`);
    return transcript;
  },
});

/** Non-speech remarks: `[BLANK_AUDIO]`, `(music)`. */
const REMARK = /^\s*(?:\[[^\]]*\]|\([^)]*\)|\*[^*]*\*)\s*$/;

const toSpokenText = (segments: WhisperSegment[], language: string | null): SpokenText => {
  const spoken = segments.filter(({ text }) => text.trim() !== '' && !REMARK.test(text));
  return {
    text: spoken.map(({ text }) => text.trim()).join(' '),
    segments: spoken.map(({ t0, t1, text }) => ({ start: t0 / 1000, end: t1 / 1000, text })),
    language,
    costUsd: null,
  };
};

import { join } from 'node:path';
import type { SpeechModels } from '../agents/module.js';
import type { Base } from '../base.js';
import type { Config } from '../config.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import { findProgram } from '../kernel/program.js';
import type { Resource } from '../kernel/route.js';
import { type Operations, openWorkers, workersAtOnce } from '../operations/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { unconfined } from '../providers/confine/unconfined.js';
import { createAudioFiles } from './audio.js';
import { createEngineChoice } from './engines/choice.js';
import { createVoiceMessages } from './messages.js';
import { transcribeOperation } from './operation.js';
import { voiceStore } from './queries.js';
import { voiceResource } from './routes.js';

interface VoiceOptions {
  operations: Operations;
  confinement: Confinement | null;
  models: SpeechModels;
  config: Pick<Config, 'workers' | 'voicePath'>;
}

export type { SpokenWords, VoiceMessages } from './messages.js';

export interface EngineReport {
  engines: string[];
  hasFfmpeg: boolean;
}

export const openVoice = (base: Base, options: VoiceOptions) => {
  const { store, clock, home } = base;
  const { operations, confinement, config } = options;
  const { workers: atOnce, voicePath: folders } = config;
  const scratch = join(home, 'scratch');
  const rows = voiceStore(store);
  const audio = createAudioFiles(home);
  const workers = openWorkers({ folder: scratch, confinement, atOnce });
  const turns = createFairQueue({
    atOnce: workersAtOnce(atOnce),
    waiting: Number.POSITIVE_INFINITY,
    isOldestFirst: true,
  });
  const ffmpeg = () => findProgram(folders, 'ffmpeg');
  const choose = createEngineChoice({
    capabilities: join(home, 'capabilities'),
    // Separate processes, since decoding may wait for them.
    workers: openWorkers({ folder: scratch, confinement, atOnce: 1 }),
    folders,
    confinement: confinement ?? unconfined(),
    scratch,
    models: options.models,
    inTurn: (userId, work) => turns.take(userId, work),
  });
  const begins = operations.register(
    transcribeOperation({ clock, rows, audio, workers, choose, ffmpeg }),
  );
  const deps = { clock, rows, audio, choose, begins, ffmpeg, operations };
  return {
    engines: async (): Promise<EngineReport> => {
      const { engines } = await choose({ language: null, model: null });
      return { engines: engines.map(({ name }) => name), hasFfmpeg: (await ffmpeg()) !== null };
    },
    messages: createVoiceMessages(deps, operations),
    /** Deletes audio of transcriptions that will not continue. */
    start: async (): Promise<void> => {
      const unended = new Set(await rows.unended());
      for (const id of await audio.ids()) if (!unended.has(id)) await audio.remove(id);
    },
    resources: (): Resource[] => [voiceResource(deps)],
  };
};

export type Voice = ReturnType<typeof openVoice>;

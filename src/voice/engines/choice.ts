import type { SpeechModels } from '../../agents/module.js';
import { findProgram } from '../../kernel/program.js';
import type { Workers } from '../../operations/module.js';
import type { Confinement } from '../../providers/confine/confinement.js';
import { findWhisper } from '../../providers/whisper/files.js';
import type { SpeechEngine } from './engine.js';
import { modelEngine } from './model.js';
import { POCKETSPHINX_LANGUAGE, POCKETSPHINX_PROGRAM, pocketsphinxEngine } from './pocketsphinx.js';
import { whisperEngine } from './whisper.js';

export interface EnginePreferences {
  language: string | null;
  /** null: the first available engine. */
  model: string | null;
}

export interface SkippedEngine {
  engine: string;
  because: string;
}

export const listReasons = (passedOver: SkippedEngine[]): string =>
  passedOver.map(({ engine, because }) => `${engine}: ${because}`).join('; ');

/** The ways in which an admin gives the daemon an engine. */
const WAYS = {
  whisper: 'run adjutant capabilities install whisper:base',
  model: 'assign the topic transcription to a model that supports it',
  pocketsphinx: 'install pocketsphinx and pocketsphinx-en-us (English only)',
};

/** Without the engines that are installed already and failed. */
export const addEngineText = (failed: SkippedEngine[] = []): string => {
  const ways = Object.entries(WAYS)
    .filter(([name]) => !failed.some(({ engine }) => engine === name))
    .map(([, way]) => way);
  const last = ways.pop() ?? '';
  const text =
    ways.length === 0 ? last : `${ways.join(', ')}${ways.length > 1 ? ',' : ''} or ${last}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** In order. */
export interface ChosenEngines {
  engines: SpeechEngine[];
  passedOver: SkippedEngine[];
  /** The possible names of models and engines, if the requested one does not exist. */
  names?: string[];
}

interface EngineChoiceDeps {
  capabilities: string;
  workers: Workers;
  folders: string[];
  confinement: Confinement;
  scratch: string;
  models: SpeechModels;
  inTurn<T>(userId: string, work: () => Promise<T>): Promise<T>;
}

export type ChooseEngines = (wish: EnginePreferences) => Promise<ChosenEngines>;

export const createEngineChoice = (deps: EngineChoiceDeps): ChooseEngines => {
  const pocketsphinx = async ({
    language,
  }: EnginePreferences): Promise<SpeechEngine | SkippedEngine> => {
    const passed = (because: string): SkippedEngine => ({ engine: 'pocketsphinx', because });
    const program = await findProgram(deps.folders, POCKETSPHINX_PROGRAM);
    if (program === null) return passed('it is not installed on this machine');
    if (language !== null && !isEnglish(language)) return passed('it supports only English');
    const { confinement, scratch: folder, inTurn } = deps;
    return pocketsphinxEngine({ program, confinement, folder, inTurn });
  };

  const whisper = async ({
    model,
  }: EnginePreferences): Promise<SpeechEngine | SkippedEngine | null> => {
    const found = await findWhisper(deps.capabilities);
    const chosen = found.models.find(({ slug }) => slug === model) ?? found.models[0];
    if (model !== null && model !== WHISPER && chosen?.slug !== model) return null;
    const passed = (because: string): SkippedEngine => ({ engine: WHISPER, because });
    if (!chosen) return passed('none of its models is installed');
    const { engine } = found;
    if (engine === null) return passed('its engine is not installed');
    return whisperEngine({ engine, model: chosen, workers: deps.workers });
  };

  const models = ({ model }: EnginePreferences): (SpeechEngine | SkippedEngine)[] => {
    const found = model === null ? deps.models.routed() : [deps.models.named(model)];
    return found
      .filter((each) => each !== null)
      .map((each) =>
        'because' in each ? { engine: each.name, because: each.because } : modelEngine(each),
      );
  };

  const listNames = async (): Promise<string[]> => {
    const { models: installed } = await findWhisper(deps.capabilities);
    return [
      ...deps.models.names(),
      ...installed.map(({ slug }) => slug),
      ...[WHISPER, 'pocketsphinx'],
    ];
  };

  return async (wish) => {
    const chosen: ChosenEngines = { engines: [], passedOver: [] };
    for (const each of models(wish)) {
      if ('because' in each) chosen.passedOver.push(each);
      else chosen.engines.push(each);
    }
    const isPocketsphinx = wish.model === null || wish.model === 'pocketsphinx';
    for (const found of [await whisper(wish), isPocketsphinx ? await pocketsphinx(wish) : null]) {
      if (found === null) continue;
      if ('because' in found) chosen.passedOver.push(found);
      else chosen.engines.push(found);
    }
    const isUnknown = chosen.engines.length + chosen.passedOver.length === 0;
    return isUnknown ? { ...chosen, names: await listNames() } : chosen;
  };
};

const WHISPER = 'whisper';

const isEnglish = (language: string): boolean =>
  language.toLowerCase().split(/[_-]/)[0] === POCKETSPHINX_LANGUAGE;

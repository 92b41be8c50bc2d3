import type { ProgressReporter } from './fetch.js';
import type { InstallPlan, PlannedLicence } from './installplan.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import { isOtherLicence, licenceName } from './ollamalicence.js';
import { retryBroken } from './retry.js';

interface PulledModel {
  plan: Extract<InstallPlan, { via: 'ollama' }>;
  /** True if the licence must be the one shown before. */
  isLicenceKept: boolean;
}

/**
 * Resumes after a broken connection. Returns the licence name; null: none. Throws OllamaFailed, or
 * DownloadFailed without disk space.
 */
export const pullModel = async (
  library: OllamaLibrary,
  { plan, isLicenceKept }: PulledModel,
  telling: ProgressReporter,
): Promise<string | null> => {
  const { clock, signal, onRetry } = telling;
  const { model, licence, bytes } = plan;
  const unknownRoom = (await library.checkRoom(bytes)) ? '' : ROOM_UNKNOWN;
  let most = 0;
  await retryBroken({
    clock,
    signal,
    onRetry,
    work: () =>
      library.pull(model, {
        signal,
        onProgress: ({ done, total, note }) => {
          most = Math.max(most, done);
          telling.bytes(done, total, `${note}${unknownRoom}`);
        },
      }),
    reached: async () => most,
    brokenBy: (error) => (error instanceof OllamaFailed && error.isBroken ? error.message : null),
  });
  if (!(await library.has(model, signal))) {
    throw new OllamaFailed(
      `Ollama reported that ${model} was pulled, but does not list the model. Run: ollama pull ${model}`,
      false,
    );
  }
  const text = await library.licenceOf(model, signal);
  const name = licenceName(text);
  if (isLicenceKept && licence && isOtherLicence(licence.name, text)) {
    await refuseLicence(library, { plan, shown: licence, name: name ?? '' }, signal);
  }
  return name;
};

const ROOM_UNKNOWN = '; free disk space of Ollama unknown';

interface OtherLicence {
  plan: PulledModel['plan'];
  shown: PlannedLicence;
  name: string;
}

const refuseLicence = async (
  library: OllamaLibrary,
  { plan, shown, name }: OtherLicence,
  signal: AbortSignal,
): Promise<never> => {
  const { id, model } = plan;
  const end = await library.remove(model, signal).then(
    () => 'The model was removed',
    (error: unknown) => {
      if (!(error instanceof OllamaFailed)) throw error;
      return `The model could not be removed (${error.message})`;
    },
  );
  // Acceptance covers only the terms that were shown.
  const way = shown.mustAccept
    ? `ollama pull ${model}`
    : `adjutant capabilities install ${id} --accept-licence`;
  throw new OllamaFailed(
    `The licence of ${model} is “${name}”, but the catalogue shows ${shown.name}. ${end}. To accept the licence “${name}”, run: ${way}`,
    false,
  );
};

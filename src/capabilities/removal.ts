import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { findInstalled, findSlug } from './find.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import { type CapabilitiesDeps, changeInTurn, installInProgress } from './service.js';
import { modelsUsing } from './usage.js';

/** Throws 404, and 409 if it is used. */
export const removeCapability = async (
  deps: CapabilitiesDeps,
  { slug: name, isForced }: { slug: string; isForced: boolean },
  by: Caller & Recorder,
): Promise<void> => {
  const slug = await findSlug(deps, name);
  const pulled = await changeInTurn(() => removeFiles(deps, { slug, isForced }, by));
  if (pulled !== null) await removePulled(deps.ends.pulled, pulled, by.signal);
};

/** Returns the name of a model that Ollama has to remove; null if the files are removed. */
const removeFiles = async (
  deps: CapabilitiesDeps,
  { slug, isForced }: { slug: string; isForced: boolean },
  by: Caller & Recorder,
): Promise<string | null> => {
  const { shelf, registry, survey, ends } = deps;
  const pulled = await findPulledModel(deps, slug);
  if (pulled === null) await findInstalled(deps, slug);
  const usedBy = modelsUsing(slug, registry.list());
  if (usedBy.length > 0 && !isForced) {
    const details = usedBy.map((message) => ({ path: 'usedBy', message }));
    const data = { code: 'in_use', details };
    throw Boom.conflict(
      `${slug} is used by ${usedBy.join(', ')}. Delete these models first (${usedBy.map(deleteCommand).join(', ')}), or pass \`force\`, which makes the models unavailable`,
      data,
    );
  }
  if ((await survey.needed()).includes(slug)) {
    throw installInProgress(slug);
  }
  if ((await survey.checking()).includes(slug)) {
    throw Boom.conflict(
      `The files of ${slug} are being verified. Wait until the verification ends, or cancel the verification with: adjutant operations cancel <operation>`,
      { code: 'verifying' },
    );
  }
  await deps.store.transact([by.record({ target: slug, data: { forced: isForced } })]);
  // Files first, so that processes that start loading find none.
  if (pulled === null) await shelf.remove(slug).finally(() => ends.unload(slug));
  return pulled;
};

const deleteCommand = (user: string): string =>
  `adjutant models delete ${user.slice(user.indexOf('/') + 1)}`;

/** null: none. Throws 409 if two models have the slug. */
const findPulledModel = async (
  { survey }: CapabilitiesDeps,
  slug: string,
): Promise<string | null> => {
  const [first = null, ...others] = await survey.pulled(slug);
  if (others.length === 0) return first;
  throw Boom.conflict(
    `${slug} is ambiguous: ${[first, ...others].join(' and ')}. Remove one of the models with: ollama rm <model>`,
    { code: 'ambiguous' },
  );
};

const removePulled = async (
  library: Pick<OllamaLibrary, 'remove'>,
  model: string,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await library.remove(model, signal);
  } catch (error) {
    if (!(error instanceof OllamaFailed)) throw error;
    throw Boom.conflict(`Ollama could not remove ${model}: ${error.message}`, {
      code: 'no_ollama',
    });
  }
};

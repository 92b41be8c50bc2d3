import { nearest } from '../kernel/nearest.js';
import type { CatalogueModel } from './catalogue.js';
import { ENGINES, tesseractLanguages } from './packages.js';

/** `qwen3-4b` of `gguf:qwen3-4b`. */
const getCapabilityName = (id: string): string => id.slice(id.indexOf(':') + 1);

/**
 * The same name with its kind, a name with that prefix, or the nearest name of the kind. null:
 * none.
 */
export const suggestInstall = (
  id: string,
  { models, held }: { models: CatalogueModel[]; held: { id: string }[] },
): string | null => {
  const all = [
    ...ENGINES.map(({ slug }) => slug),
    ...held.map((each) => each.id),
    ...models.map(({ kind, id: name }) =>
      kind === 'speech' ? `whisper:${name.replace(/^whisper-/, '')}` : `gguf:${name}`,
    ),
    ...models.flatMap(({ ollama }) => (ollama === null ? [] : [`ollama:${ollama}`])),
    ...tesseractLanguages().map((language) => `tesseract:${language}`),
  ];
  const [kind] = id.includes(':') ? id.split(':') : [null];
  const ofKind = all.filter((each) => each.startsWith(`${kind}:`));
  return ofKind.length > 0 ? pick(getCapabilityName(id), ofKind) : pick(id, all);
};

export const suggestSlug = (slug: string, slugs: string[]): string | null =>
  pick(getCapabilityName(slug).replaceAll(':', '-'), slugs);

const pick = (input: string, ids: string[]): string | null => {
  const name = input.toLowerCase();
  if (name === '') return null;
  const same = ids.find(
    (each) => getCapabilityName(each) === name || each.replaceAll(':', '-') === name,
  );
  const prefixed = ids.filter((each) => getCapabilityName(each).startsWith(name));
  const near = nearest(name, (prefixed.length > 0 ? prefixed : ids).map(getCapabilityName));
  return same ?? ids.find((each) => getCapabilityName(each) === near) ?? prefixed.at(0) ?? null;
};

import { nearest } from '../kernel/nearest.js';
import type { CatalogueModel } from './catalogue.js';
import { ENGINES, tesseractLanguages } from './packages.js';

/** Returns the name of an id without its kind: `qwen3-4b` of `gguf:qwen3-4b`. */
const nameOf = (id: string): string => id.slice(id.indexOf(':') + 1);

/**
 * Returns the id that was probably meant by one that names nothing: the same name with its kind, a name
 * that begins so, or the nearest one of the kind. null: none is near.
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
  return ofKind.length > 0 ? pick(nameOf(id), ofKind) : pick(id, all);
};

/** Returns the slug that was probably meant; null: none is near. */
export const suggestSlug = (slug: string, slugs: string[]): string | null =>
  pick(nameOf(slug).replaceAll(':', '-'), slugs);

const pick = (given: string, ids: string[]): string | null => {
  const name = given.toLowerCase();
  if (name === '') return null;
  const same = ids.find((each) => nameOf(each) === name || each.replaceAll(':', '-') === name);
  const begun = ids.filter((each) => nameOf(each).startsWith(name));
  const near = nearest(name, (begun.length > 0 ? begun : ids).map(nameOf));
  return same ?? ids.find((each) => nameOf(each) === near) ?? begun.at(0) ?? null;
};

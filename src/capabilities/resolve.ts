import type { Registry } from '../models/module.js';
import { LLAMA } from './packages.js';
import { ollamaSlug } from './planollama.js';
import type { InstalledCapability } from './shelf.js';

/** A registered model, as far as it decides what it is made of. */
type NamedModel = Pick<NonNullable<ReturnType<Registry['find']>>, 'name' | 'provider' | 'modelId'>;

interface NamedHere {
  installed: Pick<InstalledCapability, 'id' | 'slug'>[];
  models: NamedModel[];
}

/**
 * Returns the slug that a name stands for: a slug itself, the id that was installed, whole or without
 * its quantization where only one is there, or the name of a registered model. The name itself if none
 * of them is known.
 */
export const slugNamed = (name: string, { installed, models }: NamedHere): string => {
  if (installed.some(({ slug }) => slug === name)) return name;
  const same = installed.find(({ id }) => id === name);
  if (same) return same.slug;
  const begun = installed.filter(({ id }) => id.startsWith(`${name}:`));
  if (begun.length === 1 && begun[0]) return begun[0].slug;
  if (name.startsWith('ollama:')) return ollamaSlug(name.slice('ollama:'.length));
  const model = models.find((each) => each.name === name);
  return (model && slugOfModel(model)) ?? name;
};

/** Returns the name of the one registered model that a slug or an id stands for; null: none or several. */
export const modelNamed = (name: string, names: NamedHere): string | null => {
  const slug = slugNamed(name, names);
  const [first, ...others] = names.models.filter((each) => slugOfModel(each) === slug);
  return first && others.length === 0 ? first.name : null;
};

const slugOfModel = ({ provider, modelId }: NamedModel): string | null => {
  if (provider === 'ollama') return ollamaSlug(modelId);
  return provider === LLAMA ? modelId : null;
};

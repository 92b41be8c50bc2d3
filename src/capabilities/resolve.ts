import type { Registry } from '../models/module.js';
import type { InstalledCapability } from './installedmodels.js';
import { LLAMA } from './packages.js';
import { ollamaSlug } from './planollama.js';

type NamedModel = Pick<NonNullable<ReturnType<Registry['find']>>, 'name' | 'provider' | 'modelId'>;

interface NamedHere {
  installed: Pick<InstalledCapability, 'id' | 'slug'>[];
  models: NamedModel[];
}

/**
 * Accepts a slug, an installed id (without quantization if unambiguous), or a registered model
 * name. Returns the name itself if unknown.
 */
export const slugNamed = (name: string, { installed, models }: NamedHere): string => {
  if (installed.some(({ slug }) => slug === name)) return name;
  const same = installed.find(({ id }) => id === name);
  if (same) return same.slug;
  const prefixed = installed.filter(({ id }) => id.startsWith(`${name}:`));
  if (prefixed.length === 1 && prefixed[0]) return prefixed[0].slug;
  if (name.startsWith('ollama:')) return ollamaSlug(name.slice('ollama:'.length));
  const model = models.find((each) => each.name === name);
  return (model && slugOfModel(model)) ?? name;
};

/** null: none or several. */
export const modelNamed = (name: string, names: NamedHere): string | null => {
  const slug = slugNamed(name, names);
  const [first, ...others] = names.models.filter((each) => slugOfModel(each) === slug);
  return first && others.length === 0 ? first.name : null;
};

const slugOfModel = ({ provider, modelId }: NamedModel): string | null => {
  if (provider === 'ollama') return ollamaSlug(modelId);
  return provider === LLAMA ? modelId : null;
};

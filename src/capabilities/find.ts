import Boom from '@hapi/boom';
import type { Registry } from '../models/module.js';
import type { InstalledCapability, InstalledModels } from './installedmodels.js';
import type { Inventory } from './inventory.js';
import { languageSlug } from './plan.js';
import { ollamaSlug } from './planollama.js';
import { slugNamed } from './resolve.js';
import { suggestSlug } from './suggest.js';

interface FindDeps {
  registry: Pick<Registry, 'list'>;
  shelf: InstalledModels;
  survey: Inventory;
}

export const findSlug = async ({ shelf, registry }: FindDeps, name: string): Promise<string> =>
  slugNamed(name, { installed: await shelf.list(), models: registry.list() });

/** Throws 404 with a suggestion, 409 for included capabilities. */
export const findInstalled = async (
  { shelf, survey }: FindDeps,
  slug: string,
): Promise<InstalledCapability> => {
  const found = await shelf.find(slug);
  if (found) return found;
  const { languages, installed, tools, programs, ollama } = await survey.known();
  const isShipped = slug === 'node' || languages.some((each) => languageSlug(each) === slug);
  if (isShipped) throw fixed(`${slug} is included with Adjutant`);
  const saved = ollama.models.find((each) => ollamaSlug(each) === slug);
  if (saved !== undefined) {
    throw Boom.conflict(
      `${saved} is stored by Ollama, so Adjutant cannot verify the model. To repair the model, run: ollama pull ${saved}`,
      { code: 'fixed' },
    );
  }
  const beside = [...tools.map(({ name }) => name), ...programs.map(({ id }) => id)];
  const isBeside = ['ollama', 'confinement', ...beside].includes(slug);
  if (isBeside) throw fixed(`${slug} was not installed by Adjutant`);
  const slugs = [...installed.map((each) => each.slug), ...ollama.models.map(ollamaSlug)];
  const match = suggestSlug(slug, slugs);
  const hint = match === null ? '' : `. Did you mean ${match}?`;
  throw Boom.notFound(`No capability with that name is installed${hint}`);
};

const fixed = (why: string): Boom.Boom =>
  Boom.conflict(`${why}, so Adjutant cannot verify or delete this capability`, { code: 'fixed' });

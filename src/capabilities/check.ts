import type { FindMissingFile, Registry } from '../models/module.js';
import type { ChosenCatalogue } from './catalogue.js';
import type { InstalledCapability, InstalledModels } from './installedmodels.js';
import { findNpmEngine, LLAMA } from './packages.js';
import { buildModelSlug } from './plan.js';
import { findDamage } from './verify.js';

export interface CapabilityFault {
  /** `models/qwen`, or the slug of what is installed. */
  name: string;
  why: string;
  remedy: string;
}

interface CheckDeps {
  shelf: InstalledModels;
  registry: Registry;
  catalogue(): Promise<ChosenCatalogue>;
  /** Also finds files that were copied by hand. */
  findMissingFile: FindMissingFile;
  hasSource: boolean;
}

export const checkCapabilities = async ({
  shelf,
  registry,
  findMissingFile,
  ...deps
}: CheckDeps): Promise<CapabilityFault[]> => {
  const [installed, { catalogue }] = await Promise.all([shelf.list(), deps.catalogue()]);
  const slugs = catalogue.models.flatMap((model) =>
    model.files.map((f) => buildModelSlug(model, f)),
  );
  const isKnown = (slug: string): boolean =>
    deps.hasSource || findNpmEngine(slug) !== undefined || slugs.includes(slug);
  const isThere = (slug: string): boolean =>
    installed.some((each) => each.slug === slug) ||
    (slug !== LLAMA && findMissingFile({ provider: LLAMA, modelId: slug }) === null);
  const local = registry
    .list()
    .filter(({ provider, isEnabled }) => provider === LLAMA && isEnabled);
  const lacking = local.flatMap(({ name, modelId }) =>
    [modelId, LLAMA]
      .filter((slug) => !isThere(slug))
      .map((slug) => ({
        name: `models/${name}`,
        why: `it needs ${slug}, which is not installed`,
        remedy: `${isKnown(slug) ? installCommand(slug) : installByUrl(slug)}   or: adjutant models delete ${name}`,
      })),
  );
  const damaged = await Promise.all(
    installed.map(async (each) => {
      const why = await findDamage(each);
      if (why === null) return [];
      const isOfUrl = !isKnown(each.slug) && URL.canParse(each.source);
      const remedy = isOfUrl ? installByUrl(each.slug, each) : installCommand(each.slug);
      const users = local.filter(({ modelId }) => modelId === each.slug);
      const names = users.length > 0 ? users.map(({ name }) => `models/${name}`) : [each.slug];
      return names.map((name) => ({ name, why, remedy }));
    }),
  );
  return [...damaged.flat(), ...lacking];
};

const installCommand = (slug: string): string => `adjutant capabilities install ${slug}`;

/** A model outside of the catalogue can only be installed from its URL. */
const installByUrl = (
  slug: string,
  { source, files }: Pick<InstalledCapability, 'source' | 'files'> = { source: '', files: [] },
): string =>
  `${installCommand(`gguf:${slug}`)} --url ${source || '<https URL>'} --sha256 ${files[0]?.sha256 ?? '<checksum>'}`;

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../kernel/clock.js';
import { cataloguedModels, type FittedModel, findGgufFile, installedModel } from './candidates.js';
import type { Catalogue, ChosenCatalogue } from './catalogue.js';
import type { HeaderReader } from './headers.js';
import type { InstalledCapability, InstalledModels } from './installedmodels.js';
import { buildModelSlug } from './plan.js';
import { readSource, type SourceCapability, type SourceFolder } from './source.js';
import { findDamage } from './verify.js';

interface FittedDeps {
  shelf: Pick<InstalledModels, 'list'>;
  headers: HeaderReader;
  catalogue(): Promise<ChosenCatalogue>;
  /** null: the network. */
  folder: string | null;
  clock: Clock;
}

const HEADERS_MS = 60_000;
const MAX_NAMED = 5;

/**
 * Installed models first, then the catalogue and the source folder. A damaged model is listed as
 * installable.
 */
export const createFittedModels =
  ({ shelf, headers, catalogue, folder, clock }: FittedDeps) =>
  async (): Promise<FittedModel[]> => {
    const [installed, { catalogue: chosen }] = await Promise.all([shelf.list(), catalogue()]);
    const source = folder === null ? null : await readSource(folder, chosen.models);
    const signal = clock.deadline(HEADERS_MS);
    const damages = new Map<string, string>();
    for (const each of installed) {
      const damage = await findDamage(each);
      if (damage !== null) damages.set(each.slug, damage);
    }
    const whole = installed.filter(({ slug }) => !damages.has(slug));
    const known = new Set(
      chosen.models.flatMap((model) => model.files.map((f) => buildModelSlug(model, f))),
    );
    const shown = installed.filter(({ slug }) => !damages.has(slug) || !known.has(slug));
    const found = await Promise.all(
      shown.map(async (each) => {
        const path = findGgufFile(each);
        if (path === null) return [];
        const damage = damages.get(each.slug) ?? null;
        const model = installedModel(each, await headers(path, signal));
        return [{ ...model, reason: damage ?? model.reason }];
      }),
    );
    const missing = missingModels(chosen, { whole, damages, source });
    const heldItems = await Promise.all(
      (source?.held ?? [])
        .filter(({ slug, kind }) => kind === 'model' && !known.has(slug))
        .filter(({ slug }) => !installed.some((each) => each.slug === slug))
        .map((each) => heldModel(each, join(source?.path ?? '', each.slug), { headers, signal })),
    );
    return [...found.flat(), ...missing, ...heldItems];
  };

interface MissingDeps {
  whole: InstalledCapability[];
  /** By slug. */
  damages: Map<string, string>;
  source: SourceFolder | null;
}

const missingModels = (
  catalogue: Catalogue,
  { whole, damages, source }: MissingDeps,
): FittedModel[] =>
  cataloguedModels(catalogue, whole).map((model) => ({
    ...model,
    fault: damages.get(model.slug) ?? null,
    reason: source?.held.some(({ slug }) => slug === model.slug) ? null : missingReason(source),
  }));

const missingReason = (source: SourceFolder | null): string | null => {
  if (source === null) return null;
  if (source.fault !== null) return `Source folder: ${source.fault}`;
  const names = source.held.filter(({ kind }) => kind === 'model').map(({ id }) => id);
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const all =
    names.length === 0 ? 'no model' : `only ${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `The source folder contains ${all}`;
};

const heldModel = async (
  { id, slug, ...held }: SourceCapability,
  folder: string,
  { headers, signal }: { headers: HeaderReader; signal: AbortSignal },
): Promise<FittedModel> => {
  const path = findGgufFile({ ...held, id, slug, folder });
  const isFile = path !== null && (await lstat(path).catch(() => null))?.isFile();
  const reading = isFile
    ? await headers(path, signal)
    : { header: null, fault: 'The model file is missing' };
  const model = installedModel({ ...held, id, slug, folder }, reading);
  return { ...model, id, isInstalled: false };
};

import Boom from '@hapi/boom';
import { isLoopbackHost } from '../kernel/clientaddress.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Operation } from '../kernel/contract/operation.js';
import { badRequest } from '../kernel/route.js';
import type { RegisteredModel, Registry } from '../models/module.js';
import type { OperationBeginner } from '../operations/module.js';
import type { Store } from '../store/store.js';
import type { NewCapability } from './contract.js';
import type { InstallInput } from './install.js';
import type { MeasureInput } from './measure.js';
import { findNpm } from './npm.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import { LLAMA } from './packages.js';
import { type InstallPlan, planInstall } from './plan.js';
import type { InstalledCapability, Shelf } from './shelf.js';
import type { Survey } from './survey.js';
import { modelsUsing } from './usage.js';
import type { VerifyInput } from './verify.js';

export interface CapabilitiesDeps {
  store: Pick<Store, 'transact'>;
  shelf: Shelf;
  registry: Registry;
  survey: Survey;
  /** The ends of what is removed: its processes, and what Ollama has of it. */
  ends: { unload(slug: string): Promise<void>; pulled: Pick<OllamaLibrary, 'remove'> };
  /** The folders with npm, and the folder to install from in place of the network. */
  places: { folders: string[]; source: string | null };
  operations: {
    install: OperationBeginner<InstallInput>;
    measure: OperationBeginner<MeasureInput>;
    verify: OperationBeginner<VerifyInput>;
  };
}

/** The slugs of installations that are being stored in this process. */
const beginning = new Set<string>();

/** Begins an installation, with what it needs before it. Throws 400, 409. */
export const beginInstallation = async (
  deps: CapabilitiesDeps,
  given: NewCapability,
  by: Caller & Recorder,
): Promise<Operation> => {
  const { survey, shelf } = deps;
  const known = await survey.known();
  const plan = planInstall(given, { models: known.catalogue.models, host: known.host });
  if (!('via' in plan)) throw badRequest([{ path: plan.field, message: plan.fault }]);
  await refuseThere(deps, plan, { known, given });
  refuseUnaccepted(plan, given);
  refuseUnusable(plan, given);
  if (plan.via === 'ollama' && known.ollama.fault !== null) {
    throw Boom.conflict(`Ollama does not reply: ${known.ollama.fault}`, { code: 'no_ollama' });
  }
  const engine = await engineFirst(shelf, plan, known);
  const plans = engine ? [engine, plan] : [plan];
  await refuseWithoutNpm(deps, plans);
  const total = plans.reduce<number | null>(
    (sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes),
    0,
  );
  const data = { id: plan.id, source: plan.source, licence: plan.licence?.name ?? null };
  const operation = {
    userId: by.userId,
    resource: { kind: 'capability', id: plan.slug },
    title: `Install ${plan.name}`.slice(0, 500),
    input: { plans, useCase: given.useCase ?? null },
    progress: { total, unit: 'bytes' },
  };
  const recorded = by.record({ target: plan.slug, data });
  return oneOfSlug(deps, plan.slug, () => deps.operations.install.begin(operation, [recorded]));
};

/** Stores an installation, unless another one of its slug is stored or being stored. Throws 409. */
const oneOfSlug = async (
  { survey }: CapabilitiesDeps,
  slug: string,
  store: () => Promise<Operation>,
): Promise<Operation> => {
  if (beginning.has(slug)) throw beingInstalled(slug);
  beginning.add(slug);
  try {
    // Asked again: another request may have been stored since the first look.
    if ((await survey.installing()).includes(slug)) throw beingInstalled(slug);
    return await store();
  } finally {
    beginning.delete(slug);
  }
};

const beingInstalled = (slug: string): Boom.Boom =>
  Boom.conflict(`${slug} is being installed: adjutant operations list --status running`, {
    code: 'installing',
  });

/**
 * Replies with 409 if it is there, or being installed. What is there and is to be used as a model,
 * and is not registered yet, is registered by the operation.
 */
const refuseThere = async (
  deps: CapabilitiesDeps,
  plan: InstallPlan,
  { known, given }: { known: Awaited<ReturnType<Survey['known']>>; given: NewCapability },
): Promise<void> => {
  if (known.installing.includes(plan.slug)) throw beingInstalled(plan.slug);
  if (!(await isThere(deps, plan, known.ollama.models))) return;
  const users = known.usedBy(plan.slug);
  if (given.useCase !== undefined && plan.kind === 'model' && users.length === 0) return;
  const details = [{ path: 'slug', message: plan.slug }];
  const as = users.length > 0 ? `, and used by ${users.join(', ')}` : '';
  throw Boom.conflict(`${plan.slug} is installed already${as}`, { code: 'installed', details });
};

const isThere = async (
  { shelf }: CapabilitiesDeps,
  plan: InstallPlan,
  pulled: string[],
): Promise<boolean> =>
  plan.via === 'ollama'
    ? pulled.includes(plan.model) || pulled.includes(`${plan.model}:latest`)
    : (await shelf.find(plan.slug)) !== null;

const refuseUnaccepted = ({ licence }: InstallPlan, { acceptLicence }: NewCapability): void => {
  if (!licence?.mustAccept || acceptLicence) return;
  const address = licence.url === null ? '' : `, ${licence.url}`;
  throw badRequest([
    {
      path: 'acceptLicence',
      message: `must be true: it has terms of its own: ${licence.name}${address}`,
    },
  ]);
};

const refuseUnusable = ({ kind, useCases }: InstallPlan, { useCase }: NewCapability): void => {
  if (useCase === undefined) return;
  if (kind !== 'model') throw badRequest([{ path: 'useCase', message: 'is for models alone' }]);
  if (useCases.length === 0 || useCases.includes(useCase)) return;
  const message = `is not what this model is for: ${useCases.join(', ')}`;
  throw badRequest([{ path: 'useCase', message }]);
};

/** Returns the plan of the engine if the plan needs it and it is not there. */
const engineFirst = async (
  shelf: Shelf,
  { needs }: InstallPlan,
  { catalogue, host }: Awaited<ReturnType<Survey['known']>>,
): Promise<InstallPlan | null> => {
  if (!needs.includes(LLAMA) || (await shelf.find(LLAMA))) return null;
  const plan = planInstall({ id: LLAMA }, { models: catalogue.models, host });
  if ('via' in plan) return plan;
  throw badRequest([{ path: 'id', message: `needs ${LLAMA}, which ${plan.fault}` }]);
};

const refuseWithoutNpm = async (
  { places }: CapabilitiesDeps,
  plans: InstallPlan[],
): Promise<void> => {
  if (places.source !== null || !plans.some(({ via }) => via === 'npm')) return;
  if ((await findNpm(places.folders)) !== null) return;
  throw badRequest([{ path: 'id', message: 'needs npm, which is not installed' }]);
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
    throw Boom.conflict(`Ollama does not remove ${model}: ${error.message}`, { code: 'no_ollama' });
  }
};

/** Begins the measurement of a registered model that runs on this machine. */
export const beginMeasuring = (
  { registry, operations }: CapabilitiesDeps,
  { model, contextWindow }: MeasureInput & { contextWindow?: number | undefined },
  by: Caller & Recorder,
): Promise<Operation> => {
  const entry = registry.find(model);
  if (!entry) throw badRequest([{ path: 'model', message: 'names no registered model' }]);
  refuseElsewhere(entry);
  if (contextWindow !== undefined && contextWindow !== entry.contextWindow) {
    const message = `is not that of the model, which is ${entry.contextWindow}: change the model first`;
    throw badRequest([{ path: 'contextWindow', message }]);
  }
  return operations.measure.begin(
    {
      userId: by.userId,
      resource: { kind: 'model', id: model },
      title: `Measure the speed of ${model}`,
      input: { model },
      progress: { total: null, unit: 'runs' },
    },
    [by.record({ target: model })],
  );
};

/** A model elsewhere costs money, and its speed says nothing of this machine. */
const refuseElsewhere = ({ provider, embedding, baseUrl }: RegisteredModel): void => {
  if (embedding) throw badRequest([{ path: 'model', message: 'makes vectors and writes no text' }]);
  const isHere = baseUrl === null || isLoopbackHost(new URL(baseUrl).hostname);
  if (provider === LLAMA || (provider === 'ollama' && isHere)) return;
  throw badRequest([{ path: 'model', message: `does not run on this machine: ${provider}` }]);
};

const findInstalled = async (
  { shelf }: CapabilitiesDeps,
  slug: string,
): Promise<InstalledCapability> => {
  const found = await shelf.find(slug);
  if (!found) throw Boom.notFound('Nothing of that name is installed');
  return found;
};

export const beginVerifying = async (
  deps: CapabilitiesDeps,
  slug: string,
  by: Caller,
): Promise<Operation> => {
  const { name, bytes } = await findInstalled(deps, slug);
  return deps.operations.verify.begin(
    {
      userId: by.userId,
      resource: { kind: 'capability', id: slug },
      title: `Check the files of ${name}`.slice(0, 500),
      input: { slug },
      progress: { total: bytes, unit: 'bytes' },
    },
    [],
  );
};

/** Removes what is installed; a model of Ollama from Ollama. Throws 404, and 409 if it is used. */
export const removeCapability = async (
  deps: CapabilitiesDeps,
  { slug, isForced }: { slug: string; isForced: boolean },
  by: Caller & Recorder,
): Promise<void> => {
  const { shelf, registry, survey, ends } = deps;
  const pulled = await survey.pulled(slug);
  if (pulled === null) await findInstalled(deps, slug);
  const usedBy = modelsUsing(slug, registry.list());
  if (usedBy.length > 0 && !isForced) {
    const details = usedBy.map((message) => ({ path: 'usedBy', message }));
    const data = { code: 'in_use', details };
    throw Boom.conflict(
      `${slug} is used by ${usedBy.join(', ')}: delete that first, or remove it all the same with force`,
      data,
    );
  }
  if ((await survey.installing()).includes(slug)) {
    throw beingInstalled(slug);
  }
  await deps.store.transact([by.record({ target: slug, data: { forced: isForced } })]);
  if (pulled !== null) return removePulled(ends.pulled, pulled, by.signal);
  const local = registry.list().filter(({ provider }) => provider === LLAMA);
  const slugs = slug === LLAMA ? local.map(({ modelId }) => modelId) : [slug];
  for (const each of slugs) await ends.unload(each);
  await shelf.remove(slug);
};

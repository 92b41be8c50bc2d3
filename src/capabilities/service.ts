import Boom from '@hapi/boom';
import { isLoopbackHost } from '../kernel/clientaddress.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Operation } from '../kernel/contract/operation.js';
import { nearest } from '../kernel/nearest.js';
import { badRequest } from '../kernel/route.js';
import { hasScope, missingScope } from '../kernel/scope.js';
import { createSerial } from '../kernel/serial.js';
import type { RegisteredModel, Registry } from '../models/module.js';
import type { OperationBeginner } from '../operations/module.js';
import type { Store } from '../store/store.js';
import type { Installation, NewCapability } from './contract.js';
import { findInstalled, findSlug } from './find.js';
import type { InstallInput } from './install.js';
import type { InstalledModels } from './installedmodels.js';
import type { InstallPlan } from './installplan.js';
import type { Inventory } from './inventory.js';
import { buildPlanInput } from './list.js';
import type { MeasureInput } from './measure.js';
import { memoryWarningFor } from './memorywarning.js';
import { findNpm } from './npm.js';
import type { OllamaLibrary } from './ollama.js';
import type { OllamaState } from './ollamastate.js';
import { findNpmEngine, LLAMA, WHISPER } from './packages.js';
import { languageSlug, planInstall } from './plan.js';
import { ollamaSlug } from './planollama.js';
import { modelNamed } from './resolve.js';
import { isUndamaged, type VerifyInput } from './verify.js';

export interface CapabilitiesDeps {
  store: Pick<Store, 'transact'>;
  shelf: InstalledModels;
  registry: Registry;
  survey: Inventory;
  ends: { unload(slug: string): Promise<void>; pulled: Pick<OllamaLibrary, 'remove'> };
  places: { folders: string[]; source: string | null };
  operations: {
    install: OperationBeginner<InstallInput>;
    measure: OperationBeginner<MeasureInput>;
    verify: OperationBeginner<VerifyInput>;
  };
}

/**
 * Installations begin and capabilities are deleted one after another, so that each sees the result
 * of the one before.
 */
const changes = createSerial();

export const changeInTurn = <T>(work: () => Promise<T>): Promise<T> => changes('', work);

export const beginInstallation = async (
  deps: CapabilitiesDeps,
  given: NewCapability,
  by: Caller & Recorder,
): Promise<Installation> => {
  const { survey, shelf } = deps;
  const known = await survey.known();
  const plan = planInstall(given, buildPlanInput(known));
  if (!('via' in plan)) throw badRequest([{ path: plan.field, message: plan.fault }]);
  const isInstalledHere = await refuseInstalled(deps, plan, { known, given });
  refuseInvalidRequest(plan, given, by);
  if (plan.via === 'ollama' && known.ollama.fault !== null) {
    throw ollamaUnavailable(known.ollama);
  }
  const started = await changeInTurn(async () => {
    // Checked again: another request may have been stored meanwhile.
    if ((await survey.installing()).includes(plan.slug)) throw installInProgress(plan.slug);
    const engine = await engineFirst(shelf, plan, known);
    const plans = engine ? [engine, plan] : [plan];
    await refuseWithoutNpm(deps, plans);
    const isLicenceKept = !isInstalledHere && !acceptsUnneededLicence(plan, given);
    return storeInstallation(deps, { plans, plan, given, isLicenceKept }, by);
  });
  return { ...started, warning: memoryWarningFor(plan, known, given.contextWindow) };
};

const ollamaUnavailable = ({ baseUrl, fault }: OllamaState): Boom.Boom =>
  Boom.conflict(
    `Ollama does not respond at ${baseUrl}: ${fault}. Start Ollama (ollama serve), or use Ollama on another machine: adjutant models create <name> --provider ollama --base-url http://<host>:11434/v1 --model-id <model>`,
    { code: 'no_ollama' },
  );

interface BegunInstallation {
  /** With the engine that the plan needs, if it is not installed. */
  plans: InstallPlan[];
  plan: InstallPlan;
  given: NewCapability;
  isLicenceKept: boolean;
}

const storeInstallation = (
  { operations }: CapabilitiesDeps,
  { plans, plan, given, isLicenceKept }: BegunInstallation,
  by: Caller & Recorder,
): Promise<Operation> => {
  const total = plans.reduce<number | null>(
    (sum, { bytes }) => (sum === null || bytes === null ? null : sum + bytes),
    0,
  );
  const { useCase = null, contextWindow } = given;
  const data = { id: plan.id, source: plan.source, licence: plan.licence?.name ?? null };
  return operations.install.begin(
    {
      userId: by.userId,
      resource: { kind: 'capability', id: plan.slug },
      title: `Install ${plan.name}`.slice(0, 500),
      input: { plans, useCase, contextWindow, isLicenceKept },
      progress: { total, unit: 'bytes' },
    },
    [by.record({ target: plan.slug, data })],
  );
};

export const installInProgress = (slug: string): Boom.Boom =>
  Boom.conflict(
    `${slug} is being installed or is needed by a queued or running installation. Wait until the installation ends. See: adjutant operations list`,
    {
      code: 'installing',
    },
  );

/**
 * Throws 409 if it is installed or being installed. Returns true if it is installed but not yet
 * registered as a model.
 */
const refuseInstalled = async (
  deps: CapabilitiesDeps,
  plan: InstallPlan,
  { known, given }: { known: Awaited<ReturnType<Inventory['known']>>; given: NewCapability },
): Promise<boolean> => {
  if (known.installing.includes(plan.slug)) throw installInProgress(plan.slug);
  if (known.languages.some((language) => languageSlug(language) === plan.slug)) {
    throw Boom.conflict(`${plan.slug} is included with Adjutant and needs no installation`, {
      code: 'installed',
    });
  }
  refuseSlugConflict(plan, known.ollama.models);
  if (!(await isInstalledHere(deps, plan, known.ollama.models))) return false;
  const users = known.usedBy(plan.slug);
  if (given.useCase !== undefined && plan.kind === 'model' && users.length === 0) return true;
  const details = [{ path: 'slug', message: plan.slug }];
  const as = users.length > 0 ? ` and used by ${users.join(', ')}` : '';
  throw Boom.conflict(`${plan.slug} is already installed${as}`, { code: 'installed', details });
};

/** Two Ollama models with one slug would be indistinguishable. */
const refuseSlugConflict = (plan: InstallPlan, pulled: string[]): void => {
  if (plan.via !== 'ollama') return;
  const other = pulled.find((name) => ollamaSlug(name) === plan.slug && !isSame(name, plan.model));
  if (other === undefined) return;
  throw Boom.conflict(
    `${plan.model} would have the same slug as the Ollama model ${other}: ${plan.slug}. Remove that model first, or pull the new one with: ollama pull ${plan.model}`,
    { code: 'ambiguous' },
  );
};

/** Ollama uses the tag `latest` by default. */
const isSame = (one: string, other: string): boolean =>
  one.replace(/:latest$/, '') === other.replace(/:latest$/, '');

const isInstalledHere = async (
  { shelf }: CapabilitiesDeps,
  plan: InstallPlan,
  pulled: string[],
): Promise<boolean> =>
  plan.via === 'ollama'
    ? pulled.some((name) => isSame(name, plan.model))
    : isUndamaged(shelf, plan.slug);

const refuseInvalidRequest = (plan: InstallPlan, input: NewCapability, by: Caller): void => {
  refuseUnacceptedLicence(plan, input);
  refuseUnsupportedUse(plan, input);
  refuseMissingScope(input, by);
};

const refuseUnacceptedLicence = (
  { licence }: InstallPlan,
  { acceptLicence }: NewCapability,
): void => {
  if (!licence?.mustAccept || acceptLicence) return;
  const address = licence.url === null ? '' : `, ${licence.url}`;
  throw badRequest([
    {
      path: 'acceptLicence',
      message: `must be true because the model has special licence terms: ${licence.name}${address}`,
    },
  ]);
};

/** True if the shown licence requires no acceptance. */
const acceptsUnneededLicence = (
  { licence }: InstallPlan,
  { acceptLicence }: NewCapability,
): boolean => acceptLicence === true && !licence?.mustAccept;

const refuseUnsupportedUse = (
  { kind, useCases, needs }: InstallPlan,
  { useCase, contextWindow }: NewCapability,
): void => {
  if (useCase === undefined && contextWindow !== undefined) {
    const message = 'requires useCase, because contextWindow applies to the registered model';
    throw badRequest([{ path: 'contextWindow', message }]);
  }
  if (useCase === undefined) return;
  if (kind !== 'model')
    throw badRequest([{ path: 'useCase', message: 'is only supported for models' }]);
  if (useCase === 'speech' && !needs.includes(WHISPER)) {
    throw badRequest([
      { path: 'useCase', message: 'is only supported for Whisper models: whisper:<size>' },
    ]);
  }
  if (useCases.length === 0 || useCases.includes(useCase)) return;
  const message = `is not supported by this model. Supported: ${useCases.join(', ')}`;
  throw badRequest([{ path: 'useCase', message }]);
};

/** The right to install does not include the right to register models. Throws 403. */
const refuseMissingScope = ({ useCase }: NewCapability, { scopes }: Caller): void => {
  if (useCase === undefined || hasScope(scopes, MODELS_SCOPE)) return;
  throw Boom.forbidden(missingScope(MODELS_SCOPE), { code: 'scope_missing' });
};

const MODELS_SCOPE = 'models:write';

const engineFirst = async (
  shelf: InstalledModels,
  { needs }: InstallPlan,
  { catalogue, host }: Awaited<ReturnType<Inventory['known']>>,
): Promise<InstallPlan | null> => {
  const id = needs.find((each) => findNpmEngine(each));
  if (id === undefined || (await isUndamaged(shelf, id))) return null;
  const plan = planInstall({ id }, { models: catalogue.models, host });
  if ('via' in plan) return plan;
  throw badRequest([{ path: 'id', message: `needs ${id}, which ${plan.fault}` }]);
};

const refuseWithoutNpm = async (
  { places }: CapabilitiesDeps,
  plans: InstallPlan[],
): Promise<void> => {
  if (places.source !== null || !plans.some(({ via }) => via === 'npm')) return;
  if ((await findNpm(places.folders)) !== null) return;
  throw badRequest([{ path: 'id', message: 'requires npm, which is not installed' }]);
};

export const beginMeasuring = async (
  { registry, shelf, operations }: CapabilitiesDeps,
  { model: name, contextWindow }: MeasureInput & { contextWindow?: number | undefined },
  by: Caller & Recorder,
): Promise<Operation> => {
  const names = { installed: await shelf.list(), models: registry.list() };
  const model = registry.find(name) ? name : modelNamed(name, names);
  const entry = model === null ? undefined : registry.find(model);
  if (!entry || model === null) {
    const found = names.installed.find(({ slug, id }) => slug === name || id === name);
    if (found?.kind !== 'model') throw unknownModel(name, registry);
    const create = `adjutant models create ${found.slug} --provider llama --model-id ${found.slug}`;
    throw badRequest([
      { path: 'model', message: `is installed but not registered. Register it first: ${create}` },
    ]);
  }
  refuseRemoteModel(entry);
  if (contextWindow !== undefined && contextWindow !== entry.contextWindow) {
    const message = `differs from the context window of the model, which is ${entry.contextWindow}. Change the model first`;
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

const unknownModel = (name: string, registry: Registry): Boom.Boom => {
  const here = registry.list().filter(({ provider }) => [LLAMA, 'ollama'].includes(provider));
  const names = here.map((each) => each.name).sort();
  const match = nearest(name, names);
  const hint = match === undefined ? '' : `. Did you mean ${match}?`;
  const all =
    names.length === 0
      ? ''
      : `${match === undefined ? '.' : ''} Local models: ${names.slice(0, 20).join(', ')}`;
  return badRequest([{ path: 'model', message: `is not a registered model${hint}${all}` }]);
};

/** A remote model costs money, and its speed says nothing about this machine. */
const refuseRemoteModel = ({ provider, baseUrl }: RegisteredModel): void => {
  const isHere = baseUrl === null || isLoopbackHost(new URL(baseUrl).hostname);
  if (provider === LLAMA || (provider === 'ollama' && isHere)) return;
  throw badRequest([{ path: 'model', message: `does not run on this machine: ${provider}` }]);
};

export const beginVerifying = async (
  deps: CapabilitiesDeps,
  name: string,
  by: Caller,
): Promise<Operation> => {
  const slug = await findSlug(deps, name);
  const found = await findInstalled(deps, slug);
  return deps.operations.verify.begin(
    {
      userId: by.userId,
      resource: { kind: 'capability', id: slug },
      title: `Verify the files of ${found.name}`.slice(0, 500),
      input: { slug },
      progress: { total: found.bytes, unit: 'bytes' },
    },
    [],
  );
};

import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { FieldFault } from '../kernel/problem.js';
import { throwIfFaults } from '../kernel/route.js';
import type { ModelView, RoutingChanges, RoutingView } from './contract.js';
import type { ModelsDeps } from './deps.js';
import type { Registry } from './registry.js';
import { routingFaults } from './rules.js';
import { findModel, modelNames, viewChangedModel } from './service.js';
import { assertRoutingConfirmed } from './vectors.js';

export const viewRouting = ({ registry }: { registry: Registry }): RoutingView => ({
  default: registry.default(),
  topics: registry.routes(),
});

/** 409 if the model is disabled. */
export const chooseDefault = async (
  deps: ModelsDeps,
  name: string,
  by: Recorder,
): Promise<ModelView> => {
  if (!findModel(deps, name, null).isEnabled) {
    throw Boom.conflict(`The model ${name} is disabled. Enable the model first.`, {
      code: 'model_disabled',
    });
  }
  throwIfFaults(defaultFaults(deps, name, 'name'));
  await deps.models.transact([deps.models.setDefault(name), by.record({ target: name })]);
  return viewChangedModel(deps, { name, orgId: null });
};

/** Such models cannot reply to prompts. */
const defaultFaults = ({ registry }: ModelsDeps, name: string, path: string): FieldFault[] => {
  const entry = registry.find(name);
  if (!entry?.embedding) return [];
  const message = `${name} creates embeddings and cannot reply. Choose another model as the default`;
  return [{ path, message }];
};

export const changeRouting = async (
  deps: ModelsDeps,
  changes: RoutingChanges,
  by: Recorder,
): Promise<RoutingView> => {
  const { registry, models } = deps;
  const enabled = registry.list().filter(({ isEnabled }) => isEnabled);
  const known = {
    names: modelNames(registry, null),
    enabled: enabled.map(({ name }) => name),
    embedding: registry.list().flatMap(({ name, embedding }) => (embedding ? [name] : [])),
    speech: registry.list().flatMap(({ name, transcriber }) => (transcriber ? [name] : [])),
  };
  throwIfFaults([
    ...routingFaults(changes, known),
    ...(changes.default === undefined ? [] : defaultFaults(deps, changes.default, 'default')),
  ]);
  await assertRoutingConfirmed(deps, changes);
  const routes = changes.topics?.map((route) => ({ ...route, fallbacks: route.fallbacks ?? [] }));
  const removed = routes ? registry.routes().map(({ topic }) => models.removeRoute(topic)) : [];
  await models.transact([
    ...removed,
    ...(routes ?? []).map(models.setRoute),
    ...(changes.default === undefined ? [] : [models.setDefault(changes.default)]),
    by.record({ data: { ...changes } }),
  ]);
  await registry.refresh();
  return viewRouting(deps);
};

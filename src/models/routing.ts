import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import { refuseFaults } from '../kernel/route.js';
import type { ModelView, RoutingChanges, RoutingView } from './contract.js';
import type { Registry } from './registry.js';
import { routingFaults } from './rules.js';
import { findModel, type ModelsDeps, modelNames, shown } from './service.js';
import { refuseUnconfirmed } from './vectors.js';

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
  if (!findModel(deps, name).isEnabled) {
    throw Boom.conflict(`The model ${name} is disabled. Enable it first.`, {
      code: 'model_disabled',
    });
  }
  await deps.models.transact([deps.models.setDefault(name), by.record({ target: name })]);
  return shown(deps, name);
};

export const changeRouting = async (
  deps: ModelsDeps,
  changes: RoutingChanges,
  by: Recorder,
): Promise<RoutingView> => {
  const { registry, models } = deps;
  const enabled = registry.list().filter(({ isEnabled }) => isEnabled);
  const known = {
    names: modelNames(registry),
    enabled: enabled.map(({ name }) => name),
    embedding: registry.list().flatMap(({ name, embedding }) => (embedding ? [name] : [])),
    speech: registry.list().flatMap(({ name, transcriber }) => (transcriber ? [name] : [])),
  };
  refuseFaults(routingFaults(changes, known));
  await refuseUnconfirmed(deps, changes);
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

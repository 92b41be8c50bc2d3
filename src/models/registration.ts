import { throwIfFaults } from '../kernel/route.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import type { NewModel } from './contract.js';
import type { ModelsDeps } from './deps.js';
import { modelFaults, modelNameFaults } from './rules.js';
import { modelNames, newRow } from './service.js';

/** Number of names to try. */
const MAX_NAMES = 100;

/** Returns the name, with a number appended if it is taken. */
export const registerInstalled = async (deps: ModelsDeps, model: NewModel): Promise<string> => {
  const { models, registry } = deps;
  for (let nth = 1; nth <= MAX_NAMES; nth++) {
    await registry.refresh();
    const known = registry
      .list()
      .find(({ provider, modelId }) => provider === model.provider && modelId === model.modelId);
    if (known) return known.name;
    const name = nth === 1 ? model.name : `${model.name}-${nth}`;
    const names = modelNames(registry, null);
    if (names.includes(name)) continue;
    throwIfFaults([...modelNameFaults(name), ...modelFaults({ ...model, name }, names)]);
    try {
      await models.transact([models.insert(newRow(deps, { ...model, name }, null))]);
    } catch (error) {
      if (error instanceof UniqueViolation) continue;
      throw error;
    }
    await registry.refresh();
    return name;
  }
  throw new Error(`No free name for the model ${model.name}`);
};

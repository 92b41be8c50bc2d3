import type { FieldFault } from '../kernel/problem.js';
import { cliTools, toolOf } from '../providers/clitools/tools.js';
import type { NewModel } from './contract.js';
import type { Supports } from './open.js';

/** Capabilities of a command-line tool as a model: it produces text. */
export const CLI_SUPPORTS: Supports = {
  tools: false,
  vision: false,
  streaming: true,
  embeddings: false,
};

const USELESS = 'is of no use to a tool: it is logged in with adjutant models cli login';

/** Lists the settings that a model must not have if it is a command-line tool. */
export const toolFaults = ({
  modelId,
  baseUrl,
  apiKey,
  credentialId,
  supports = {},
}: Partial<NewModel>): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (modelId !== undefined && !toolOf(modelId)) {
    const names = Object.keys(cliTools).join(', ');
    const message = `must be one of ${names}, with :model where its own choice will not do`;
    faults.push({ path: 'modelId', message });
  }
  const useless = { baseUrl, apiKey, credentialId };
  for (const [path, value] of Object.entries(useless)) {
    if (value) faults.push({ path, message: USELESS });
  }
  for (const able of ['tools', 'vision', 'embeddings'] as const) {
    if (!supports[able]) continue;
    faults.push({ path: `supports.${able}`, message: 'is nothing that a command-line tool has' });
  }
  return faults;
};

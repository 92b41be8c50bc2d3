import type { Base } from '../base.js';
import { type Toolbox, toolNameFaults } from '../tools/module.js';
import { createExperts, expertsStore } from './queries.js';
import { type ExpertsDeps, expertsResource } from './routes.js';

export {
  chooseByKeywords,
  type ExpertChoice,
  expertPrompt,
  parseExpertChoice,
} from './classify.js';
export { type Expert, expertPersona, MCP, modelAndPersona, type Persona } from './expert.js';
export type { Experts } from './queries.js';

export const openExperts = (base: Base, { toolbox }: { toolbox: Toolbox }) => {
  const { store, clock } = base;
  return {
    experts: createExperts(store),
    resources: ({ models }: { models: ExpertsDeps['models'] }) => [
      expertsResource({
        experts: expertsStore(store),
        clock,
        models,
        faultsOfTools: (userId, names) => toolNameFaults(toolbox.of(userId), names),
      }),
    ],
  };
};

import type { ModelView } from '../../../src/client/index.js';
import type { Act } from '../../state/act.js';

/** The acts on a model. They are for admins; the daemon refuses them to others. */

const on = ({ name }: ModelView): Pick<Act, 'row' | 'touches'> => ({
  row: { list: 'models', id: name },
  touches: ['models', 'routes'],
});

export const checkModelAct = (model: ModelView): Act => ({
  ...on(model),
  text: `Test model ${model.name}`,
  line: `adjutant models test ${model.name}`,
  doing: 'testing…',
  call: async (client) => {
    const { ok, latencyMs, error } = await client.models.check({ name: model.name });
    if (ok) return `${model.name} answered in ${latencyMs} ms`;
    const said = `${model.name} does not answer: ${error ?? 'no reason given'}`;
    return { said, tone: 'danger' };
  },
});

export const makeDefault = (model: ModelView): Act => ({
  ...on(model),
  text: `Use model ${model.name} as the default`,
  line: `adjutant models default ${model.name}`,
  doing: 'setting…',
  ask: { lines: [`Let ${model.name} answer for everybody where no model is named or routed?`] },
  call: async (client) => {
    await client.models.default({ name: model.name });
    return `${model.name} is the default now`;
  },
});

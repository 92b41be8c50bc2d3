import type { FieldFault } from '../../kernel/problem.js';
import type { NewTemplate, TemplateStage } from './contract.js';
import { graphOf } from './graph.js';
import { missingInOutput } from './outputshape.js';
import { type NamedValue, stageValueIn, valuesIn } from './values.js';

/** A name as templates write one: words with dots between them. */
const NAME = /^[A-Za-z_][\w-]*(\.[\w-]+)*$/;

/**
 * Returns the faults of the values that stages name: those that do not exist, and the outputs of
 * stages that need not have completed before. `hasOrder`: the stages have no circle, so that it is
 * known which comes before which.
 */
export const valueFaults = (
  { parameters = [], stages }: NewTemplate,
  hasOrder: boolean,
): FieldFault[] => {
  const graph = graphOf(stages);
  const keys = new Set(stages.map(({ key }) => key));
  const isOrdered = hasOrder && keys.size === stages.length;
  const params = new Set(parameters.map(({ key }) => key));

  const faultOf = (stage: TemplateStage, { name }: NamedValue, isItem: boolean): string | null => {
    const [root = '', first = ''] = name.split('.');
    if (root === 'params') return params.has(first) ? null : noParameter(first, [...params]);
    if (name === 'run.id') return null;
    if (root === 'item')
      return isItem ? null : 'names {{item}}, which only the items of a foreach have';
    const value = stageValueIn(name);
    if (!value) return `names {{${name}}}, which no stage has: there are ${ROOTS}`;
    if (!graph.stages.has(value.key)) return `names the stage ${value.key}, which is not there`;
    if (isOrdered && !graph.above(stage.key).has(value.key)) {
      return `names the stage ${value.key}, which ${stage.key} does not need`;
    }
    if (value.of === 'status' || value.of === 'error') return null;
    if (value.of !== 'output')
      return `names ${value.of} of a stage: there are output, status and error`;
    if (isOrdered && !graph.completedBefore(stage.key).has(value.key)) {
      return `names the output of ${value.key}, which may be skipped or have failed by then`;
    }
    const named = graph.stages.get(value.key);
    const missing = named ? missingInOutput(named, name.split('.').slice(3)) : null;
    return missing && noField(value.key, missing);
  };

  return stages.flatMap((stage, at) => {
    const fields = (stage.when ?? []).map(({ field }, index) => ({
      path: `stages.${at}.when.${index}.field`,
      name: field,
    }));
    const named = valuesIn(stage.config, `stages.${at}.config`).filter(({ name }) =>
      NAME.test(name),
    );
    return [...fields, ...named].flatMap((value) => {
      const isItem =
        value.path.startsWith(`stages.${at}.config.stage.`) && stage.kind === 'foreach';
      const message = faultOf(stage, value, isItem);
      return message === null ? [] : [{ path: value.path, message }];
    });
  });
};

const noField = (key: string, { name, known }: { name: string; known: string[] }): string => {
  const there = known.length > 0 ? `there are: ${known.join(', ')}` : 'it is a text';
  return `names ${name} of the output of ${key}, which has no such field; ${there}`;
};

const ROOTS = 'params.<key>, stages.<key>.output, item and run.id';

const noParameter = (key: string, known: string[]): string => {
  const there = known.length > 0 ? `there are: ${known.join(', ')}` : 'the template has none';
  return `names the parameter ${key || '(none)'}, which is not there; ${there}`;
};

import { splitPath } from '../../hooks/module.js';
import type { FieldFault } from '../../kernel/problem.js';
import type { NewTemplate, TemplateStage } from './contract.js';
import { buildStageGraph } from './graph.js';
import { findMissingField } from './outputshape.js';
import { findNamedValues, type NamedValue, parseStageValue } from './values.js';

const NAME = /^[A-Za-z_][\w-]*(\.[\w-]+|\[[^\]]*\])*$/;

/**
 * Returns faults of values that do not exist, and of outputs of stages that may not have completed.
 * `hasOrder` means that the stages contain no cycle.
 */
export const valueFaults = (
  { parameters = [], stages }: NewTemplate,
  hasOrder: boolean,
): FieldFault[] => {
  const graph = buildStageGraph(stages);
  const keys = new Set(stages.map(({ key }) => key));
  const isOrdered = hasOrder && keys.size === stages.length;
  const params = new Set(parameters.map(({ key }) => key));

  const faultOf = (stage: TemplateStage, { name }: NamedValue, isItem: boolean): string | null => {
    const [root = '', first = ''] = splitPath(name);
    if (root === 'params') return params.has(first) ? null : noParameter(first, [...params]);
    if (name === 'run.id') return null;
    if (root === 'item')
      return isItem ? null : 'uses {{item}}, which is only available inside a foreach';
    const value = parseStageValue(name);
    if (!value) return `uses the unknown value {{${name}}}. Available: ${ROOTS}`;
    if (!graph.stages.has(value.key)) return `refers to an unknown stage: ${value.key}`;
    if (isOrdered && !graph.above(stage.key).has(value.key)) {
      return `refers to the stage ${value.key}. Add it to the needs of ${stage.key}`;
    }
    if (value.of === 'status' || value.of === 'error') return null;
    if (value.of !== 'output')
      return `uses the unknown field ${value.of} of a stage. Available: output, status, error`;
    if (isOrdered && !graph.completedBefore(stage.key).has(value.key)) {
      return `uses the output of ${value.key}, which may be skipped or may have failed`;
    }
    const named = graph.stages.get(value.key);
    const missing = named ? findMissingField(named, splitPath(name).slice(3)) : null;
    return missing && noField(value.key, missing);
  };

  return stages.flatMap((stage, at) => {
    const fields = (stage.when ?? []).map(({ field }, index) => ({
      path: `stages.${at}.when.${index}.field`,
      name: field,
    }));
    const named = findNamedValues(stage.config, `stages.${at}.config`).filter(({ name }) =>
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
  const there = known.length > 0 ? `Available: ${known.join(', ')}` : 'The output is a string';
  return `uses the unknown field ${name} of the output of ${key}. ${there}`;
};

const ROOTS = 'params.<key>, stages.<key>.output, item and run.id';

const noParameter = (key: string, known: string[]): string => {
  const there =
    known.length > 0 ? `Available: ${known.join(', ')}` : 'The template has no parameters';
  return `uses the unknown parameter ${key || '(none)'}. ${there}`;
};

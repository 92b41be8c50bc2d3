import type Joi from 'joi';
import { conditionFaults } from '../../hooks/module.js';
import { parseMoment } from '../../kernel/contract/moment.js';
import type { Schema } from '../../kernel/contract/schema.js';
import { isRecord } from '../../kernel/jsonvalue.js';
import type { FieldFault } from '../../kernel/problem.js';
import { NewTemplate, type TemplateStage } from './contract.js';
import { buildStageGraph, findCycle } from './graph.js';
import { outputSchema } from './outputschema.js';
import { parameterFaults, parameterTypeFault } from './parameters.js';
import { readableParts } from './readable.js';
import {
  configSchema,
  ITEM_KINDS,
  isStageWork,
  type StageKind,
  type StageWork,
} from './stagekinds.js';
import { urlFaults } from './urlfaults.js';
import { valueFaults } from './valuefaults.js';

export interface KnownNames {
  models(): string[];
  /** `at` is the index in the list. */
  faultsOfTools(names: string[]): { at: number; message: string }[];
  /** Values of arguments may be unknown. */
  faultsOfParams(
    tool: { toolId: string; toolAction: string },
    params: Record<string, unknown>,
  ): FieldFault[];
  isNumericParam(tool: { toolId: string; toolAction: string }, key: string): boolean;
  /** Returns why an address can never be requested, or null. */
  refusalOf(url: string): string | null;
}

const MAX_FAULTS = 50;

export type CheckedTemplate =
  | { template: NewTemplate; stages: TemplateStage[]; faults: [] }
  | { template: null; stages: TemplateStage[]; faults: FieldFault[] };

export const checkTemplate = (input: unknown, known: KnownNames): CheckedTemplate => {
  const { error, value } = NewTemplate.validate(input, UNLABELLED);
  const { faults, stages } = error
    ? faultsOfForm(input, error.details, known)
    : { faults: templateFaults(value, known), stages: value.stages };
  if (faults.length > 0) {
    return { template: null, stages, faults: faults.slice(0, MAX_FAULTS).map(shortFault) };
  }
  return { template: value, stages, faults: [] };
};

/** Also returns the other faults of all parts with a valid form. */
const faultsOfForm = (
  input: unknown,
  details: Joi.ValidationErrorItem[],
  known: KnownNames,
): { faults: FieldFault[]; stages: TemplateStage[] } => {
  const { template, unread } = readableParts(input);
  const isRead = ({ path }: FieldFault): boolean =>
    !unread.some((part) => path === part || path.startsWith(`${part}.`));
  const others = templateFaults(template, known).filter(isRead);
  return { faults: [...faultsIn(details, ''), ...others], stages: template.stages };
};

const MAX_PATH_LENGTH = 300;
const MAX_MESSAGE_LENGTH = 900;

const shortFault = ({ path, message }: FieldFault): FieldFault => ({
  path: path.slice(0, MAX_PATH_LENGTH),
  message: message.slice(0, MAX_MESSAGE_LENGTH),
});

const UNLABELLED = { abortEarly: false, errors: { label: false } } as const;

export const templateFaults = (template: NewTemplate, known: KnownNames): FieldFault[] => {
  const { parameters = [], stages } = template;
  const alone = [
    ...parameterFaults(parameters),
    ...(stages.length === 0
      ? [{ path: 'stages', message: 'must contain at least one stage' }]
      : []),
    ...stages.flatMap((stage, at) => stageFaults(stage, `stages.${at}`, known)),
    ...needsFaults(stages),
  ];
  const circle = findCycle(stages);
  const at = stages.findIndex(({ key }) => key === circle?.[0]);
  const message = `must not form a cycle: ${circle?.join(' → ')}`;
  const ofOrder = circle ? [{ path: `stages.${at}.needs`, message }] : gotoFaults(stages);
  return [...alone, ...ofOrder, ...whenFaults(template), ...valueFaults(template, circle === null)];
};

const stageFaults = (stage: TemplateStage, at: string, known: KnownNames): FieldFault[] => {
  const { needs = [], runIf, when = [], onError, maxVisits } = stage;
  const faults = [...workFaults(stage, at, known), ...conditionFaults(when, `${at}.when`)];
  if (runIf !== undefined && runIf !== 'success' && needs.length === 0) {
    faults.push({ path: `${at}.runIf`, message: 'is only allowed on a stage with needs' });
  }
  if (maxVisits !== undefined && typeof onError !== 'object') {
    faults.push({
      path: `${at}.maxVisits`,
      message: 'is only allowed on a stage with onError: { goto }',
    });
  }
  return faults;
};

const workFaults = (
  { kind, config, output }: StageWork,
  at: string,
  known: KnownNames,
): FieldFault[] => {
  const faults = schemaFaults(configSchema(kind), config, `${at}.config`);
  if (output !== undefined) faults.push(...schemaFaults(outputSchema, output, `${at}.output`));
  return faults.length > 0 ? faults : (namedFaults[kind]?.(config, `${at}.config`, known) ?? []);
};

type NamedFaults = (config: StageWork['config'], at: string, known: KnownNames) => FieldFault[];

/** Checked after the form of a configuration. */
const namedFaults: Partial<Record<StageKind, NamedFaults>> = {
  agent: ({ model, tools }, at, known) => [
    ...modelFaults(model, `${at}.model`, known),
    ...toolFaults(Array.isArray(tools) ? tools : [], (index) => `${at}.tools.${index}`, known),
  ],
  tool: (config, at, known) => {
    const tool = { toolId: `${config.toolId}`, toolAction: `${config.toolAction}` };
    const params = isRecord(config.toolParams) ? config.toolParams : {};
    return [
      ...toolFaults(
        [`${tool.toolId}.${tool.toolAction}`],
        () => `${at}.${wrongName(tool, known)}`,
        known,
      ),
      ...known
        .faultsOfParams(tool, params)
        .map(({ path, message }) => ({ path: `${at}.toolParams.${path}`, message })),
      ...(REQUESTING.has(`${tool.toolId}.${tool.toolAction}`)
        ? urlFaults(params.url, `${at}.toolParams.url`, known.refusalOf)
        : []),
    ];
  },
  http: ({ url }, at, known) => urlFaults(url, `${at}.url`, known.refusalOf),
  wait: ({ until }, at) => {
    const isTime =
      typeof until !== 'string' || until.includes('{{') || !Number.isNaN(parseMoment(until));
    return isTime
      ? []
      : [{ path: `${at}.until`, message: 'must be a time, such as 2026-12-31T09:00:00Z' }];
  },
  foreach: ({ stage }, at, known) => itemFaults(stage, `${at}.stage`, known),
};

/** Tools that request the address in the argument `url`. */
const REQUESTING = new Set(['http.request', 'web.read']);

/** Returns `toolId` if no tool of that skill exists. */
const wrongName = ({ toolId }: { toolId: string }, known: KnownNames): string =>
  known.faultsOfTools([toolId]).length > 0 ? 'toolId' : 'toolAction';

const modelFaults = (model: unknown, path: string, known: KnownNames): FieldFault[] => {
  const models = known.models();
  if (typeof model !== 'string' || models.includes(model) || model.includes('{{')) return [];
  return [{ path, message: `must be one of the models: ${models.join(', ')}` }];
};

const toolFaults = (
  names: string[],
  path: (index: number) => string,
  known: KnownNames,
): FieldFault[] =>
  known.faultsOfTools(names).map(({ at, message }) => ({ path: path(at), message }));

const itemFaults = (stage: unknown, at: string, known: KnownNames): FieldFault[] => {
  if (!isStageWork(stage)) return [];
  if (!ITEM_KINDS.includes(stage.kind)) {
    return [
      { path: `${at}.kind`, message: `must be one of ${ITEM_KINDS.join(', ')} in a foreach` },
    ];
  }
  return workFaults(stage, at, known);
};

const schemaFaults = (schema: Schema, value: unknown, at: string): FieldFault[] => {
  const { error } = schema.validate(value, UNLABELLED);
  return error ? faultsIn(error.details, `${at}.`) : [];
};

const faultsIn = (
  details: { path: (string | number)[]; message: string }[],
  before: string,
): FieldFault[] =>
  details.map(({ path, message }) => ({
    path: `${before}${path.join('.')}`.replace(/\.$/, ''),
    message,
  }));

const needsFaults = (stages: TemplateStage[]): FieldFault[] => {
  const first = new Map<string, number>();
  for (const [at, { key }] of stages.entries()) if (!first.has(key)) first.set(key, at);
  return stages.flatMap(({ key, needs = [], onError }, at) => [
    ...(first.get(key) === at
      ? []
      : [
          {
            path: `stages.${at}.key`,
            message: `must be unique; stages.${first.get(key)} has the key ${key} as well`,
          },
        ]),
    ...needs.flatMap((need, index) => {
      const path = `stages.${at}.needs.${index}`;
      if (!first.has(need)) return [{ path, message: `refers to an unknown stage: ${need}` }];
      return needs.indexOf(need) < index ? [{ path, message: `lists ${need} twice` }] : [];
    }),
    ...(typeof onError === 'object' && !first.has(onError.goto)
      ? [
          {
            path: `stages.${at}.onError.goto`,
            message: `refers to an unknown stage: ${onError.goto}`,
          },
        ]
      : []),
  ]);
};

/** Values of another type are never equal. */
const whenFaults = ({ parameters = [], stages }: NewTemplate): FieldFault[] =>
  stages.flatMap(({ when = [] }, at) =>
    when.flatMap(({ field, operator, value }, index) => {
      const parameter = parameters.find(({ key }) => field === `params.${key}`);
      if (!parameter || !COMPARING.has(operator) || value === undefined) return [];
      const { key, type } = parameter;
      return (operator === 'in' ? [value].flat() : [value]).flatMap((each, nth) => {
        const fault = each === null ? null : parameterTypeFault(type, each);
        const place = operator === 'in' ? `value.${nth}` : 'value';
        const path = `stages.${at}.when.${index}.${place}`;
        return fault === null ? [] : [{ path, message: `${fault}, like the parameter ${key}` }];
      });
    }),
  );

const COMPARING = new Set(['equals', 'not_equals', 'in']);

const gotoFaults = (stages: TemplateStage[]): FieldFault[] => {
  const graph = buildStageGraph(stages);
  return stages.flatMap(({ key, onError }, at) => {
    const target = typeof onError === 'object' ? onError.goto : key;
    const isKnown = graph.stages.has(target);
    if (!isKnown || target === key || graph.above(key).has(target)) return [];
    const message = `must be ${key} or a stage that ${key} needs. ${target} is neither`;
    return [{ path: `stages.${at}.onError.goto`, message }];
  });
};

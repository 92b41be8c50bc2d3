import Joi from 'joi';
import { AgentLimits } from '../../kernel/contract/agentaction.js';
import * as s from '../../kernel/contract/schema.js';
import { ItemStage, MAX_WAIT_SECONDS, type TemplateStage } from './contract.js';

export type StageKind = TemplateStage['kind'];
export type StageWork = Pick<TemplateStage, 'kind' | 'config' | 'output' | 'allowUntrusted'>;

export const MAX_ITEMS = 1000;

const prose = (most: number) => s.text(most).pattern(/\S/, 'non-blank text');

const InputField = s.object('InputField', {
  key: s
    .text(40)
    .pattern(
      /^[a-z][a-z0-9_-]*$/,
      'lowercase letters, digits, "_" and "-", starting with a letter',
    ),
  label: s.text(200),
  type: s.oneOf('InputType', 'string', 'number', 'boolean', 'choice', 'text'),
  options: s.optional(s.list(s.text(200), 100)),
  required: s.optional(s.boolean()),
});

const CONFIGS = {
  agent: s.object('AgentConfig', {
    prompt: prose(100_000),
    topic: s.optional(s.text(100)),
    model: s.optional(s.text(200)),
    expertId: s.optional(s.text(80)),
    tools: s.optional(s.list(s.text(100), 50)),
    limits: s.optional(s.allOptional('StageLimits', AgentLimits)),
  }),
  tool: s.object('ToolConfig', {
    toolId: s.text(100),
    toolAction: s.text(100),
    toolParams: s.optional(s.record('StageToolParams')),
  }),
  http: s.object('HttpConfig', {
    method: s.oneOf('HttpMethod', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    url: s.text(2000),
    headers: s.optional(
      Joi.object<Record<string, string>>()
        .pattern(Joi.string().pattern(/^[\w-]{1,100}$/), s.anyText(4000))
        .max(50),
    ),
    body: s.optional(s.json()),
    credentialId: s.optional(s.text(80)),
  }),
  approval: s.object('ApprovalConfig', { message: prose(10_000) }),
  input: s.object('InputConfig', {
    message: prose(10_000),
    fields: s.list(InputField, 50).min(1),
  }),
  foreach: s.object('ForeachConfig', {
    items: s.textOr('ForeachItems', s.text(500), s.list(s.json(), MAX_ITEMS)),
    stage: ItemStage,
    concurrency: s.optional(s.integer(1, 8)),
  }),
  pipeline: s.object('PipelineConfig', {
    templateId: s.text(80),
    params: s.optional(s.record('PipelineParams')),
  }),
  wait: s
    .object('WaitConfig', {
      seconds: s.optional(s.number(0, MAX_WAIT_SECONDS)),
      until: s.optional(s.text(300)),
    })
    .xor('seconds', 'until'),
  research: s.object('ResearchConfig', {
    question: prose(1000),
    depth: s.optional(s.oneOf('StageResearchDepth', 'quick', 'standard', 'deep')),
    sources: s.optional(s.list(s.oneOf('StageSource', 'web', 'knowledge'), 2).min(1)),
  }),
} satisfies Record<StageKind, s.Schema>;

export const configSchema = (kind: StageKind): s.Schema => CONFIGS[kind];

export const isStageWork = (value: unknown): value is StageWork =>
  typeof value === 'object' && value !== null && 'kind' in value && 'config' in value;

/** Kinds that never wait for a person. */
export const ITEM_KINDS: readonly StageKind[] = ['agent', 'tool', 'http', 'pipeline', 'research'];

import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const source = () =>
  s
    .oneOf('ExpertSource', 'system', 'custom')
    .description(
      'Origin of the expert. `system`: built in, read-only. `custom`: created by the user.',
    );
const name = () =>
  Joi.string<string>()
    .max(40)
    .pattern(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
    .example('bookkeeper');
const description = () =>
  s
    .text(300)
    .description(
      'Description of the work that the expert can do. Models choose an expert by this text.',
    );
const instructions = () =>
  s.text(20_000).description('Instructions for an agent that acts as the expert');
const keywords = () =>
  s
    .list(s.text(50), 100)
    .description('Words in a prompt that select the expert when no model can choose an expert');
const tools = () =>
  s
    .nullable(s.list(s.text(100), 100))
    .description(
      'Tools that the expert may use, such as `http.request`, `http` or `mcp`. The list restricts ' +
        'and never grants. `null` allows all tools.',
    );
const topic = () =>
  s
    .nullable(s.text(100))
    .description(
      'Topic that selects the model. The model routing assigns models to topics. `null` if the expert has no topic',
    );
const model = () =>
  s
    .nullable(s.text(200))
    .description(
      'Model of the expert. Takes precedence over `topic`. `null` if the expert has no model of its own',
    );

export const ExpertReply = s.object('Expert', {
  id: s.id('expert'),
  orgId: s.orgId(),
  name: name(),
  source: source(),
  description: description(),
  instructions: instructions(),
  keywords: keywords(),
  tools: tools(),
  topic: topic(),
  model: model(),
  createdAt: s.nullable(s.time()).description('Creation time. `null` for a built-in expert.'),
  updatedAt: s
    .nullable(s.time())
    .description('Time of the last change. `null` for a built-in expert.'),
});
export type ExpertReply = s.Static<typeof ExpertReply>;

const own = {
  name: name(),
  description: description(),
  instructions: instructions(),
  keywords: s.optional(keywords()),
  tools: s.optional(tools()),
  topic: s.optional(topic()),
  model: s.optional(model()),
};

export const NewExpert = s.object('NewExpert', own);
export type NewExpert = s.Static<typeof NewExpert>;

export const ExpertChanges = s.ignoreReadOnly(
  s.partial('ExpertChanges', NewExpert),
  'id',
  'orgId',
  'source',
  'createdAt',
  'updatedAt',
);
export type ExpertChanges = s.Static<typeof ExpertChanges>;

export const experts = contract({
  list: endpoint.get('/api/experts', {
    shared: 'member',
    summary: 'List experts',
    description:
      'An expert is a saved role for agents, with instructions, allowed tools and a model.',
    query: pageQuery('ExpertQuery', { source: s.optional(source()) }),
    reply: createPageSchema('experts', ExpertReply),
  }),
  get: endpoint.get('/api/experts/{id}', {
    shared: 'member',
    summary: 'Get an expert',
    reply: ExpertReply,
  }),
  create: endpoint.post('/api/experts', {
    shared: 'admin',
    summary: 'Create an expert',
    description:
      'An expert is a saved role for agents, with instructions, allowed tools and a model.',
    example: {
      name: 'release-notes',
      description: 'Writes release notes from a list of changes',
      instructions: 'Write one plain sentence for each change, the most useful first.',
      keywords: ['release', 'changelog'],
    },
    body: NewExpert,
    reply: ExpertReply,
    status: 201,
  }),
  update: endpoint.patch('/api/experts/{id}', {
    shared: 'admin',
    summary: 'Update an expert',
    example: { keywords: ['release', 'changelog', 'notes'] },
    body: ExpertChanges,
    reply: ExpertReply,
  }),
  delete: endpoint.delete('/api/experts/{id}', {
    shared: 'admin',
    summary: 'Delete an expert',
    description:
      'An expert is a saved role for agents, with instructions, allowed tools and a model.',
  }),
});

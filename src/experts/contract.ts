import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const source = () =>
  s.oneOf('ExpertSource', 'system', 'custom').description('system: ships, and cannot be changed');
const name = () =>
  Joi.string<string>()
    .max(40)
    .pattern(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
    .example('bookkeeper');
const description = () =>
  s.text(300).description('When to take it; models choose by this sentence');
const instructions = () =>
  s.text(20_000).description('How it works; the agent that takes it on reads this');
const keywords = () =>
  s.list(s.text(50), 100).description('Words by which it is chosen where no model can choose');
const tools = () =>
  s
    .nullable(s.list(s.text(100), 100))
    .description(
      'What it works with, as `http.request`, `http` or `mcp`; it grants nothing; null: all there are',
    );
const topic = () =>
  s.nullable(s.text(100)).description('Its tasks are routed to the models of this');
const model = () => s.nullable(s.text(200)).description('Goes before the topic');

export const ExpertReply = s.object('Expert', {
  id: s.id('expert'),
  name: name(),
  source: source(),
  description: description(),
  instructions: instructions(),
  keywords: keywords(),
  tools: tools(),
  topic: topic(),
  model: model(),
  createdAt: s.nullable(s.time()),
  updatedAt: s.nullable(s.time()),
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

export const ExpertChanges = s.ignoring(
  s.partial('ExpertChanges', NewExpert),
  'id',
  'source',
  'createdAt',
  'updatedAt',
);
export type ExpertChanges = s.Static<typeof ExpertChanges>;

export const experts = contract({
  list: endpoint.get('/api/experts', {
    summary: 'List experts: your own, the newest first, then those that ship',
    query: pageQuery('ExpertQuery', { source: s.optional(source()) }),
    reply: pageOf('experts', ExpertReply),
  }),
  get: endpoint.get('/api/experts/{id}', { summary: 'Show an expert', reply: ExpertReply }),
  create: endpoint.post('/api/experts', {
    summary: 'Create an expert of your own',
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
    summary: 'Change an expert of your own; agents that have it already keep it as it was',
    example: { keywords: ['release', 'changelog', 'notes'] },
    body: ExpertChanges,
    reply: ExpertReply,
  }),
  delete: endpoint.delete('/api/experts/{id}', { summary: 'Delete an expert of your own' }),
});

import Joi from 'joi';
import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  id,
  ignoring,
  list,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  type Static,
  text,
  time,
} from '../kernel/contract/schema.js';

const source = () =>
  oneOf('ExpertSource', 'system', 'custom').description('system: ships, and cannot be changed');
const name = () =>
  Joi.string<string>()
    .max(40)
    .pattern(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
    .example('bookkeeper');
const description = () => text(300).description('When to take it; models choose by this sentence');
const instructions = () => text(20_000).description('How it works, told to whoever plays the part');
const keywords = () =>
  list(text(50), 100).description('Words by which it is chosen where no model can choose');
const tools = () =>
  nullable(list(text(100), 100)).description(
    'What it works with, as `http.request`, `http` or `mcp`; it grants nothing; null: all there are',
  );
const topic = () => nullable(text(100)).description('Its tasks are routed to the models of this');
const model = () => nullable(text(200)).description('Goes before the topic');

export const ExpertReply = object('Expert', {
  id: id('expert'),
  name: name(),
  source: source(),
  description: description(),
  instructions: instructions(),
  keywords: keywords(),
  tools: tools(),
  topic: topic(),
  model: model(),
  createdAt: nullable(time()),
  updatedAt: nullable(time()),
});
export type ExpertReply = Static<typeof ExpertReply>;

const own = {
  name: name(),
  description: description(),
  instructions: instructions(),
  keywords: optional(keywords()),
  tools: optional(tools()),
  topic: optional(topic()),
  model: optional(model()),
};

export const NewExpert = object('NewExpert', own);
export type NewExpert = Static<typeof NewExpert>;

export const ExpertChanges = ignoring(
  partial('ExpertChanges', NewExpert),
  'id',
  'source',
  'createdAt',
  'updatedAt',
);
export type ExpertChanges = Static<typeof ExpertChanges>;

export const experts = contract({
  list: {
    method: 'GET',
    path: '/api/experts',
    summary: 'List experts: your own, the newest first, then those that ship',
    query: pageQuery('ExpertQuery', { source: optional(source()) }),
    reply: pageOf('experts', ExpertReply),
  },
  get: { method: 'GET', path: '/api/experts/{id}', summary: 'Show an expert', reply: ExpertReply },
  create: {
    method: 'POST',
    path: '/api/experts',
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
  },
  update: {
    method: 'PATCH',
    path: '/api/experts/{id}',
    summary: 'Change an expert of your own; agents that play the part already keep it as it was',
    example: { keywords: ['release', 'changelog', 'notes'] },
    body: ExpertChanges,
    reply: ExpertReply,
  },
  delete: { method: 'DELETE', path: '/api/experts/{id}', summary: 'Delete an expert of your own' },
});

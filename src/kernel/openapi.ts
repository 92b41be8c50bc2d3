import type { Endpoint, FormRules } from './contract/endpoint.js';
import { MULTIPART } from './form.js';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type DocumentNode = { [key: string]: Json };

interface OpenApiOperation extends DocumentNode {
  operationId: string;
  responses: { [status: string]: DocumentNode };
}

export interface Document extends DocumentNode {
  components: { schemas: DocumentNode };
  paths: { [path: string]: { [method: string]: OpenApiOperation } };
}

const REFERENCE = '#/components/schemas/';

/**
 * Fixes errors of the generator: colliding list names, any value typed as string, a body for empty
 * replies, and its own extensions. States the maximum of numbers in requests.
 */
export const tidyDocument = (document: Document, endpoints: Map<string, Endpoint>): Document => {
  const { schemas } = document.components;
  const isNamed = (name: string): boolean =>
    isNode(schemas[name]) && schemas[name].type !== 'array';
  const resolve = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(resolve);
    if (!isNode(value)) return value;
    const name = typeof value.$ref === 'string' ? value.$ref.slice(REFERENCE.length) : null;
    if (name !== null) return isNamed(name) ? value : resolve(schemas[name] ?? {});
    const kept = Object.entries(value).filter(([key]) => !key.startsWith('x-'));
    const clean = Object.fromEntries(kept.map(([key, inner]) => [key, resolve(inner)]));
    const meta = value['x-meta'];
    if (isNode(meta) && meta.isAnything === true) delete clean.type;
    return clean;
  };
  const named = Object.entries(schemas).filter(([name]) => isNamed(name));
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) {
      complete(operation, endpoints.get(operation.operationId));
    }
  }
  const replied = listReplied(document, schemas);
  const limited = (name: string, schema: Json): Json =>
    replied.has(name) ? schema : statedMaximum(schema);
  return {
    ...document,
    servers: [{ url: '/' }],
    components: {
      ...document.components,
      schemas: Object.fromEntries(
        named.map(([name, schema]) => [name, limited(name, resolve(schema))]),
      ),
    },
    paths: JSON.parse(JSON.stringify(statedMaximum(resolve(document.paths)))),
  };
};

/** Names of the schemas that replies contain. Their maximums are technical. */
const listReplied = ({ paths }: Document, schemas: DocumentNode): Set<string> => {
  const names = new Set<string>();
  const visit = (value: Json | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    const name = typeof value.$ref === 'string' ? value.$ref.slice(REFERENCE.length) : null;
    if (name === null) Object.values(value).forEach(visit);
    else if (!names.has(name)) {
      names.add(name);
      visit(schemas[name]);
    }
  };
  for (const operations of Object.values(paths))
    for (const { responses } of Object.values(operations)) visit(responses);
  return names;
};

const MAX_STATED = 1e9;

const statedMaximum = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(statedMaximum);
  if (!isNode(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, statedMaximum(child)]),
  );
  const { description } = value;
  const { maximum } = isNode(value.schema) ? value.schema : value;
  if (typeof description !== 'string' || typeof maximum !== 'number') return inner;
  if (maximum >= MAX_STATED || description.includes(`${maximum}`)) return inner;
  return { ...inner, description: `${description.replace(/\.$/, '')}. Maximum ${maximum}` };
};

const isNode = (value: Json | undefined): value is DocumentNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const complete = (operation: OpenApiOperation, endpoint: Endpoint | undefined): void => {
  if (!endpoint) return;
  const { access, produces, body, form, rawBytes, scim } = endpoint;
  if (access === 'public') operation.security = [];
  if (access === 'optional') operation.security = [{}, { bearer: [] }];
  if (operation.responses[204]) delete operation.responses[204].content;
  if (produces) operation.responses[200] = { description: 'Success', content: plain(produces) };
  if (form && isNode(operation.requestBody))
    operation.requestBody = formBody(form, operation.requestBody);
  if ((body || rawBytes) && isNode(operation.requestBody)) {
    operation.requestBody.required = true;
    illustrate(operation.requestBody, endpoint);
  }
  const { exampleHeader: header } = endpoint;
  if (header)
    operation.parameters = [...toArray(operation.parameters), buildHeaderParameter(header)];
  if (scim) [...Object.values(operation.responses), operation.requestBody].forEach(declareScim);
};

const declareScim = (message: Json | undefined): void => {
  if (!isNode(message) || !isNode(message.content)) return;
  const { 'application/json': json, ...rest } = message.content;
  if (json !== undefined) message.content = { 'application/scim+json': json, ...rest };
};

const formBody = ({ files, jsonBytes }: FormRules, { content }: DocumentNode): DocumentNode => {
  const [described] = isNode(content) ? Object.values(content) : [];
  const fields = isNode(described) ? described.schema : undefined;
  const file: DocumentNode = { type: 'string', format: 'binary' };
  const own: DocumentNode = {
    type: 'object',
    required: [files],
    properties: { [files]: { type: 'array', items: file } },
  };
  const withFields = (part: DocumentNode): DocumentNode =>
    fields === undefined ? part : { allOf: [part, fields] };
  const encoded: DocumentNode = {
    ...own,
    properties: { [files]: { type: 'string', format: 'byte' } },
  };
  return {
    required: true,
    content: {
      ...(jsonBytes !== undefined && { 'application/json': { schema: withFields(encoded) } }),
      [MULTIPART]: { schema: withFields(own) },
    },
  };
};

const illustrate = ({ content }: DocumentNode, { example }: Endpoint): void => {
  if (example === undefined || !isNode(content)) return;
  for (const media of Object.values(content)) {
    if (isNode(media)) media.example = JSON.parse(JSON.stringify(example));
  }
};

const buildHeaderParameter = ({
  name,
  value,
  about,
}: NonNullable<Endpoint['exampleHeader']>): DocumentNode => ({
  name,
  in: 'header',
  description: about,
  required: false,
  schema: { type: 'string' },
  example: value,
});

const toArray = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

const plain = (type: string): DocumentNode => ({ [type]: { schema: { type: 'string' } } });

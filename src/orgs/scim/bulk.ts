import Boom from '@hapi/boom';
import { attributeOf, isJsonObject } from './attributes.js';
import { scimFault } from './filter.js';
import type { ScimCall, ScimContext, ScimReply } from './resource.js';

export const MAX_BULK = 1000;
const MAX_FAILURES = 1_000_000;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
const PATH = /^\/?(users|groups)(?:\/([^/?]+))?$/i;

type Run = (call: ScimCall) => Promise<ScimReply>;
type JsonObject = Record<string, unknown>;

/** In order: an operation may refer to the `bulkId` of an earlier one (RFC 7644, 3.7.2). */
export const runBulk = async (
  { base }: ScimContext,
  body: JsonObject,
  run: Run,
): Promise<ScimReply> => {
  const operations = attributeOf(body, 'Operations');
  if (!Array.isArray(operations)) throw scimFault('invalidSyntax', 'Operations must be a list');
  if (operations.length > MAX_BULK) {
    throw Boom.entityTooLarge(`Operations must have at most ${MAX_BULK} items`);
  }
  const mostFailures = Math.max(1, Number(attributeOf(body, 'failOnErrors') ?? MAX_FAILURES));
  const ids = new Map<string, string>();
  const results: JsonObject[] = [];
  let failures = 0;
  for (const operation of operations) {
    if (failures >= mostFailures) break;
    const given = isJsonObject(operation) ? operation : {};
    const bulkId = attributeOf(given, 'bulkId');
    const own = {
      method: attributeOf(given, 'method'),
      ...(bulkId !== undefined && { bulkId }),
    };
    try {
      const call = readCall(given, ids);
      const { status, body: resource } = await run(call);
      const id = call.id ?? resource?.id;
      if (typeof bulkId === 'string') ids.set(bulkId, String(id));
      const location = `${base}/${call.resource}/${id}`;
      results.push({ ...own, location, status: String(status) });
    } catch (error) {
      if (!Boom.isBoom(error) || error.isServer) throw error;
      failures++;
      results.push({ ...own, ...failureOf(error) });
    }
  }
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:BulkResponse'];
  return { status: 200, body: { schemas, Operations: results }, headers: {} };
};

const readCall = (operation: JsonObject, ids: ReadonlyMap<string, string>): ScimCall => {
  const word = String(attributeOf(operation, 'method')).toUpperCase();
  const method = METHODS.find((each) => each === word);
  const path = resolveIds(String(attributeOf(operation, 'path')), ids);
  const [, noun = '', id = null] = PATH.exec(path) ?? [];
  if (!method || noun === '' || (method === 'POST') !== (id === null)) {
    throw scimFault('invalidPath', 'method and path must be those of a user or group');
  }
  const version = attributeOf(operation, 'version');
  const data = resolveIds(attributeOf(operation, 'data') ?? {}, ids);
  return {
    method,
    resource: noun.toLowerCase() === 'users' ? 'Users' : 'Groups',
    id,
    // The reply has only the location.
    query: { attributes: 'id' },
    body: isJsonObject(data) ? data : {},
    ifMatch: typeof version === 'string' ? version : null,
  };
};

/** Replaces `bulkId:<name>` by the ID of the resource. */
const resolveIds = <T>(value: T, ids: ReadonlyMap<string, string>): T =>
  JSON.parse(JSON.stringify(value), (_, text: unknown) =>
    typeof text !== 'string'
      ? text
      : text.replace(/(^|\/)bulkId:([^/]+)$/, (_whole, before: string, name: string) => {
          const id = ids.get(name);
          if (id === undefined) throw scimFault('invalidValue', `Unknown bulkId: ${name}`);
          return before + id;
        }),
  );

const failureOf = ({ output: { statusCode, payload }, data }: Boom.Boom): JsonObject => {
  const status = String(statusCode);
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
  const scimType: unknown = data?.scimType;
  return { status, response: { schemas, status, scimType, detail: payload.message } };
};

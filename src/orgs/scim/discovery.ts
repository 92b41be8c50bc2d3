import Boom from '@hapi/boom';
import { GROUP_SCHEMA, USER_SCHEMA } from './attributes.js';
import { MAX_BULK } from './bulk.js';
import { listReply, MAX_COUNT, type ScimReply } from './resource.js';

const BODY_BYTES = 1024 * 1024;
const CORE = 'urn:ietf:params:scim:schemas:core:2.0';
/** Attributes that are stored. Others are accepted and dropped. */
const STORED: Record<string, Record<string, string[] | null>> = {
  User: {
    userName: null,
    name: ['formatted', 'givenName', 'familyName'],
    displayName: null,
    active: null,
    emails: ['value', 'type', 'primary'],
    groups: null,
  },
  Group: { displayName: null, members: null },
};

interface Described {
  name: string;
  subAttributes?: Described[];
}

export const describeService = (base: string): ScimReply =>
  reply({
    schemas: [`${CORE}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: true, maxOperations: MAX_BULK, maxPayloadSize: BODY_BYTES },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The SCIM token of the organization',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  });

export const describeSchemas = async (base: string, id?: string): Promise<ScimReply> => {
  const { Schemas } = await import('scimmy');
  const all = [Schemas.User, Schemas.Group].map((schema) => {
    const given = JSON.parse(JSON.stringify(schema.definition.describe(`${base}/Schemas`)));
    return { ...given, attributes: onlyStored(given.name, given.attributes) };
  });
  return oneOrAll(all, id);
};

const onlyStored = (name: string, attributes: Described[]): Described[] => {
  const stored = STORED[name] ?? {};
  return attributes
    .filter((attribute) => attribute.name in stored)
    .map((attribute) => {
      const parts = stored[attribute.name];
      const { subAttributes } = attribute;
      if (!parts || !subAttributes) return attribute;
      return {
        ...attribute,
        subAttributes: subAttributes.filter((sub) => parts.includes(sub.name)),
      };
    });
};

export const describeTypes = (base: string, id?: string): ScimReply =>
  oneOrAll(
    [
      { id: 'User', endpoint: '/Users', schema: USER_SCHEMA },
      { id: 'Group', endpoint: '/Groups', schema: GROUP_SCHEMA },
    ].map((type) => ({
      schemas: [`${CORE}:ResourceType`],
      ...type,
      name: type.id,
      meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type.id}` },
    })),
    id,
  );

const oneOrAll = (all: { id: string }[], id: string | undefined): ScimReply => {
  if (id === undefined) return listReply(all, { offset: 0, total: all.length });
  const found = all.find((each) => each.id.toLowerCase() === id.toLowerCase());
  if (!found) throw Boom.notFound('No resource with that id');
  return reply({ ...found });
};

const reply = (body: Record<string, unknown>): ScimReply => ({ status: 200, body, headers: {} });

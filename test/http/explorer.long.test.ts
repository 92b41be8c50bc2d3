import { readFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { DOCUMENT_FILE, describeApi } from '../../src/http/explorer.js';
import { version } from '../../src/version.js';
import { resources } from '../harness/api.js';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

interface Operation {
  operationId: string;
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: { required: boolean; content: object };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

describe('the API document', () => {
  let app: TestApp;
  let text: string;
  let document: {
    openapi: string;
    components: {
      schemas: Record<
        string,
        { type?: string; properties?: Record<string, { example?: unknown }> }
      >;
      securitySchemes: object;
    };
    paths: Record<string, Record<string, Operation>>;
    security: object[];
    tags: { name: string; description: string }[];
  };
  const operations = (): [string, Operation][] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
    );

  before(async () => {
    app = await startApp();
    ({ text, body: document } = await app.call('GET', '/swagger.json'));
  });

  after(() => app.stop());

  it('is a file that the build has made', async () => {
    const replies = await Promise.all(
      ['/swagger.json', '/swagger', '/swaggerui/swagger-ui-bundle.js'].map((path) =>
        app.call('GET', path),
      ),
    );
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    expect(replies[0]?.text).to.equal(await readFile(DOCUMENT_FILE, 'utf8'));
    expect(text).to.equal(JSON.stringify(await describeApi(version)));
  });

  it('is OpenAPI 3 with a bearer scheme', () => {
    expect(document.openapi).to.match(/^3\.0\./);
    expect(document.components.securitySchemes).to.equal({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    });
    expect(document.security).to.equal([{ bearer: [] }]);
  });

  it('has every endpoint', () => {
    const endpoints = resources.flatMap(({ contract }) =>
      Object.values(contract).map(({ method, path }) => `${method} ${path}`),
    );
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).to.equal(endpoints.sort());
  });

  it('says of each area what it is about', () => {
    const areas = resources.map(({ name, about }) => ({ name, description: about }));
    expect(document.tags).to.equal(areas);
  });

  it('has an id of its own for each operation', () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.filter((id) => !/^[a-z-]+\.[\w-]+$/.test(id))).to.equal([]);
  });

  it('asks for no token on public routes alone', () => {
    const access = new Map(
      resources.flatMap(({ contract }) =>
        Object.values(contract).map(({ method, path, access }) => [`${method} ${path}`, access]),
      ),
    );
    for (const [name, { security }] of operations()) {
      const wanted = { public: [], optional: [{}, { bearer: [] }] }[String(access.get(name))];
      expect(security, name).to.equal(wanted);
    }
  });

  it('refers to schemas that are there, and names none by chance', () => {
    const names = Object.keys(document.components.schemas);
    const used = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).to.equal([...names].sort());
    expect(names.filter((name) => /^Model ?\d|^[a-z]/.test(name))).to.equal([]);
  });

  it('shows examples of the fields of a form', () => {
    const { tags, language } = document.components.schemas.UploadFields?.properties ?? {};
    expect([tags?.example, language?.example]).to.equal([['invoices'], 'eng']);
  });

  it('says which calls need a permission', () => {
    expect(document.paths['/api/knowledge/index']?.post?.responses[403]).to.exist();
  });

  it('gives every error the one schema, and those of SCIM theirs', () => {
    for (const [name, { responses }] of operations()) {
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      expect(errors.length, name).to.be.above(0);
      for (const [status, { content }] of errors) {
        if (status === '503' && name === 'GET /health/ready') continue;
        const isScim = name.includes(' /api/scim/');
        expect(content, `${name} ${status}`).to.equal(
          isScim
            ? { 'application/scim+json': { schema: { $ref: '#/components/schemas/ScimError' } } }
            : { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        );
      }
    }
  });

  it('describes what a request holds and what a reply holds', () => {
    for (const { contract } of resources) {
      for (const endpoint of Object.values(contract)) {
        const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
        const { body, form, rawBytes } = endpoint;
        const isBody = (body ?? form ?? rawBytes) !== undefined;
        expect(operation?.requestBody?.required, endpoint.path).to.equal(isBody || undefined);
        const done = operation?.responses[String(endpoint.status ?? (endpoint.reply ? 200 : 204))];
        expect(done?.content !== undefined, endpoint.path).to.equal(endpoint.reply !== undefined);
        const parameters = operation?.parameters?.filter((each) => each.in === 'path') ?? [];
        expect(parameters.map(({ name }) => `{${name}}`)).to.equal(
          endpoint.path.match(/\{\w+\}/g) ?? [],
        );
      }
    }
  });
});

describe('the explorer', () => {
  it('loads everything from the daemon, and no script from within a page', async () => {
    const app = await startApp();
    try {
      const page = await app.call('GET', '/swagger');
      expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(page.headers['content-security-policy']).to.include("script-src 'self';");
      const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
        ([, link]) => link ?? '',
      );
      expect(links.length).to.equal(5);
      for (const link of links) {
        const asset = await app.call('GET', link);
        expect([link, asset.status]).to.equal([link, 200]);
        expect(asset.headers['content-type']).to.match(/css|javascript|png/);
      }
      expect(page.text).to.not.match(/https?:|<script>|<style|onload/);
      expect((await app.call('GET', '/swaggerui/../package.json')).status).to.equal(404);
      expect((await app.call('GET', '/swaggerui/%2e%2e%2fpackage.json')).status).to.equal(404);
    } finally {
      await app.stop();
    }
  });
});

import { loadResources } from '../../src/api.js';

export const resources = await loadResources();

export const endpoints = resources.flatMap(({ contract }) => Object.values(contract));

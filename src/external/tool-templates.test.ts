import { tryTemplates } from './fixtures/try-template.js';

// The others are in `tool-templates.soak.test.ts`.
tryTemplates(['sh']);

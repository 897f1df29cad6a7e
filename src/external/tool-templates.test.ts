import { tryTemplates } from './fixtures/try-template.js';

// The other languages are in `tool-templates.soak.test.ts`.
tryTemplates(['sh']);

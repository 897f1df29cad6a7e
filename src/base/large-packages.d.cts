declare const packages: {
  readonly ajv: () => typeof import('ajv');
  readonly ajv2020: () => typeof import('ajv/dist/2020.js');
  readonly ajvFormats: () => typeof import('ajv-formats');
  readonly re2js: () => typeof import('re2js', { with: { 'resolution-mode': 'import' }});
  readonly semver: () => typeof import('semver');
};
export = packages;

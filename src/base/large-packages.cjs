/*
 * Large packages that most programs never use. This file is CommonJS: `require` evaluates a package on its first use,
 * at once, in the sources as in a bundle. An `import` would evaluate it at every start.
 */
module.exports = {
  ajv: () => require('ajv'),
  ajv2020: () => require('ajv/dist/2020.js'),
  ajvFormats: () => require('ajv-formats'),
  re2js: () => require('re2js'),
  semver: () => require('semver'),
};

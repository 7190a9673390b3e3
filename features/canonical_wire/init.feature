@0.3
Feature: The first exchange
  The host offers a contract; the extension answers with its selection and its complete catalog.

  @EXT03-INIT-001 @EXT03-METHOD-001
  Scenario: An extension answers initialize and then serves
    Given the extension is ready
    Then the extension goes on serving

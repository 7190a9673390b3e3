@0.1 @0.2 @0.4
Feature: The first exchange
  The host tells who the extension is and what it offers; the extension answers what it has and selects.

  @EXT04-INIT-001 @EXT04-ERR-001
  Scenario: An extension answers initialize and then serves
    Given the extension is ready
    Then the extension goes on serving

@0.4
Feature: Resources and bulk objects
  Things that the host keeps for an extension, under names that it gives.

  @EXT04-RES-001 @EXT04-RES-002
  Scenario: Resources of a conversation
    Given the extension selects resource_refs_v1
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

  @EXT04-RES-003
  Scenario: Resources that are retired
    Given the extension selects resource_refs_v1
    And the extension is ready
    When the host has an ordinary conversation
    And the host asks for the disposal
    Then no frame breaks a rule of this scenario

  @EXT04-BULK-001 @EXT04-BULK-002
  Scenario: Bulk objects of a conversation
    Given the extension selects bulk_objects_v1
    And the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario

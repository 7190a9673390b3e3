@0.3
Feature: What an extension selects
  A selection holds the required names, of the others only what was offered, and no limit above the offer.

  @EXT03-CONTRACT-001 @EXT03-CONTRACT-002 @EXT03-CONTRACT-003 @EXT03-CONTRACT-004 @EXT03-CONTRACT-005 @EXT03-CONTRACT-006
  @EXT03-CONTRACT-007 @EXT03-CONTRACT-008 @EXT03-CONTRACT-009 @EXT03-CONTRACT-010 @EXT03-CONTRACT-011 @EXT03-CONTRACT-012
  @EXT03-CONTRACT-023
  Scenario: The selection from the standard offer
    Given the extension is ready
    Then no frame breaks a rule of this scenario

  @EXT03-CONTRACT-013
  Scenario Outline: Limits stay under a low offer
    Given the extension has been started
    When the host sends initialize with <place> = <value>
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

    Examples:
      | place                                    | value |
      | /contract/limits/max_frame_bytes         | 65536 |
      | /contract/limits/max_concurrent_requests | 2     |
      | /contract/limits/max_tools               | 200   |

  @EXT03-CONTRACT-014
  Scenario: Session hooks are declared and not offered
    Given the extension declares session hooks
    And the host offers /contract/optional_methods = []
    And the extension has been started
    When the host sends initialize with /contract/optional_capabilities = []
    Then the extension answers with a result
    And the extension goes on serving

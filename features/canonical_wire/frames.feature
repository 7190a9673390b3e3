@0.3
Feature: Frames and their spelling
  One canonical value a line. These rules bind every frame an extension writes, so they are judged in every scenario; the
  scenarios here make an extension write one of each kind.

  @EXT03-FRAME-001 @EXT03-FRAME-002 @EXT03-FRAME-003 @EXT03-FRAME-004 @EXT03-FRAME-005 @EXT03-FRAME-007 @EXT03-FRAME-008
  @EXT03-CANON-001 @EXT03-CANON-002 @EXT03-CANON-003 @EXT03-CANON-004 @EXT03-CANON-005 @EXT03-CANON-006 @EXT03-CANON-007
  @EXT03-CANON-008 @EXT03-CANON-009 @EXT03-CANON-010 @EXT03-CANON-011 @EXT03-PROC-001
  Scenario: A conversation from initialize to shutdown
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    And the extension exits
    Then no frame breaks a rule of this scenario

  @EXT03-FRAME-006
  Scenario: An answer to initialize within a small offered bound
    Given the extension has been started
    When the host sends initialize with /contract/limits/max_frame_bytes = 640
    And the host closes the input
    And the extension exits
    Then no frame breaks a rule of this scenario
